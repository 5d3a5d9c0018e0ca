;; The program of the self-test: whole numbers, floats, memory and registers, as often as a register says, so that a sandbox which
;; computes or counts in another way is found. `self-test.wasm` is what this text comes to; a test compares them.
(module
  (import "rio" "peek16" (func (param i32) (result i32)))
  (import "rio" "poke16" (func (param i32 i32)))
  (memory (export "memory") 1)
  (func (param f64 i32) (result f64)
    local.get 0
    f64.sqrt
    local.get 1
    f64.convert_i32_u
    f64.const 1.0009765625
    f64.mul
    f64.add
    f64.const 3
    f64.div)
  (func (export "robot_step") (local i32 i64 f64)
    i32.const 16
    call 0
    i32.const 63
    i32.and
    i32.const 40
    i32.add
    local.set 0
    i32.const 0
    i64.load
    local.set 1
    i32.const 8
    f64.load
    local.set 2
    loop
      local.get 2
      local.get 0
      call 2
      local.set 2
      local.get 1
      local.get 2
      i64.reinterpret_f64
      i64.xor
      i64.const 6364136223846793005
      i64.mul
      i64.const 13
      i64.rotl
      local.set 1
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    i32.const 0
    local.get 1
    i64.store
    i32.const 8
    local.get 2
    f64.store
    i32.const 32
    local.get 1
    i64.const 54
    i64.shr_u
    i32.wrap_i64
    call 1
    i32.const 34
    local.get 2
    f64.const 500
    f64.mul
    i32.trunc_sat_f64_s
    call 1))
