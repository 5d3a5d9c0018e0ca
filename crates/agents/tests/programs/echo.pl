% The echo controller over lines.
:- use_module(library(lists)).
:- initialization((getenv('RIO_PROLOG', Directory), atom_concat(Directory, '/rio.pl', File), use_module(File)), now).
:- initialization(main, main).

main :-
    rio_run(step),
    rio_poke8(0x20, 0),
    rio_log("bye").

step(Tick) :-
    ( Tick =:= 0 -> rio_tick_us(Us), format(string(Text), "tick_us ~w", [Us]), rio_log(Text) ; true ),
    findall(V, (member(A, [0x10, 0x12, 0x14, 0x16]), rio_peek16(A, V)), Values),
    sum_list(Values, Sum),
    rio_peek16(0x10, Front),
    Speed is max(-100, min(100, Front - 500)),
    rio_poke8(0x20, Speed),
    rio_peek8(0x11, High),
    rio_poke8(0x21, High),
    rio_poke32(0x24, Sum),
    rio_poke16(0x10, 1),
    rio_peek8(0x99, _),
    ( Tick mod 3 =:= 2
    -> rio_poke8(0x40, 7), rio_peek32(0x40, Port), Low is Port /\ 0xffff, rio_poke16(0x24, Low)
    ;  true ),
    format(string(Said), "sum ~w", [Sum]),
    rio_log(Said).
