/*  Robot I/O for SWI-Prolog: a controller as a process that speaks lines (docs/register-protocol.md).

        :- use_module(rio).
        :- initialization(main, main).
        main :- rio_run(step).
        step(_Tick) :- rio_peek16(0x10, Front), ( Front < 300 -> rio_poke8(0x20, -40) ; rio_poke8(0x20, 60) ).

    Start it as: swipl controller.pl. The goal is called once per tick and may fail: the tick is then
    answered with what it had poked. Facts asserted by it stay, so it can plan over many ticks.
    Print to user_error; user_output belongs to the protocol.
*/
:- module(rio, [rio_run/1, rio_tick_us/1, rio_log/1,
                rio_peek8/2, rio_peek16/2, rio_peek32/2, rio_peeks8/2, rio_peeks16/2, rio_peeks32/2,
                rio_poke8/2, rio_poke16/2, rio_poke32/2, rio_register/2]).
:- meta_predicate rio_run(1).
:- dynamic byte/2, port/2, register/2, tick_us/1.

version(1).

%!  rio_run(:Goal) calls Goal(Tick) in every tick, until the simulator says stop.
rio_run(Goal) :-
    set_stream(user_input, newline(posix)),
    set_stream(user_output, buffer(full)),
    greet,
    ticks(Goal).

greet :-
    receive(["rio", Theirs | About]),
    version(Ours),
    send("rio ~w", [Ours]),
    flush_output(user_output),
    (   number_string(Ours, Theirs)
    ->  true
    ;   format(user_error, "rio: the simulator speaks version ~w, this file ~w~n", [Theirs, Ours]), halt(3)
    ),
    field(About, "tick_us", Us),
    assertz(tick_us(Us)),
    read_table.

read_table :-
    receive(Words),
    (   Words = ["reg", Name | About]
    ->  atom_string(Atom, Name), assertz(register(Atom, About)), read_table
    ;   Words = ["span" | About], member("access=port", About)
    ->  field(About, "at", At), field(About, "bytes", Bytes), End is At + Bytes,
        assertz(port(At, End)), read_table
    ;   Words = ["span" | _]
    ->  read_table
    ;   true                                    % ready
    ).

ticks(Goal) :-
    receive(Words),
    (   Words = ["tick", Text | Items]
    ->  number_string(Tick, Text),
        forall(member(Item, Items), latch(Item)),
        (   catch(call(Goal, Tick), Error, (print_message(error, Error), true)) -> true ; true ),
        send("done ~w", [Tick]),
        ticks(Goal)
    ;   true                                    % stop, or the simulator is gone
    ).

latch(Item) :-
    split_string(Item, "=", "", [AtText, Hex]),
    term_string(At, AtText),
    string_codes(Hex, Codes),
    latch(Codes, At).

latch([], _).
latch([High, Low | Rest], At) :-
    code_type(High, xdigit(H)), code_type(Low, xdigit(L)),
    Byte is 16 * H + L,
    retractall(byte(At, _)),
    assertz(byte(At, Byte)),
    Next is At + 1,
    latch(Rest, Next).

%!  rio_register(?Name, ?About): the registers; About has "at=0x10", "bytes=2" and so on.
rio_register(Name, About) :- register(Name, About).

rio_tick_us(Us) :- tick_us(Us).

rio_log(Text) :- send("log ~w", [Text]).

rio_peek8(At, V)  :- peek(At, 1, V).
rio_peek16(At, V) :- peek(At, 2, V).
rio_peek32(At, V) :- peek(At, 4, V).
rio_peeks8(At, V)  :- peek(At, 1, U), signed(U, 8, V).
rio_peeks16(At, V) :- peek(At, 2, U), signed(U, 16, V).
rio_peeks32(At, V) :- peek(At, 4, U), signed(U, 32, V).
rio_poke8(At, V)  :- At1 is At, V1 is V, send("poke8 ~w ~w", [At1, V1]).
rio_poke16(At, V) :- At1 is At, V1 is V, send("poke16 ~w ~w", [At1, V1]).
rio_poke32(At, V) :- At1 is At, V1 is V, send("poke32 ~w ~w", [At1, V1]).

peek(At, Width, Value) :-
    Bits is 8 * Width, Last is At + Width - 1,
    (   At mod Width =:= 0, forall(between(At, Last, A), mapped(A))
    ->  true
    ;   send("badpeek~w ~w", [Bits, At])
    ),
    (   At mod Width =\= 0
    ->  Value = 0
    ;   between(At, Last, P), is_port(P)
    ->  send("peek~w ~w", [Bits, At]),
        receive(["value", Text]),
        number_string(Value, Text)
    ;   collect(Last, At, 0, Value)
    ).

collect(A, At, Sum0, Sum) :- A < At, !, Sum = Sum0.
collect(A, At, Sum0, Sum) :-
    ( byte(A, Byte) -> true ; Byte = 0 ),
    Sum1 is 256 * Sum0 + Byte,
    A1 is A - 1,
    collect(A1, At, Sum1, Sum).

mapped(A) :- byte(A, _), !.
mapped(A) :- is_port(A).

is_port(A) :- port(From, End), A >= From, A < End, !.

signed(U, Bits, V) :- ( U >= 1 << (Bits - 1) -> V is U - (1 << Bits) ; V = U ).

send(Format, Arguments) :-
    format(user_output, Format, Arguments),
    nl(user_output).

receive(Words) :-
    flush_output(user_output),
    flush_output(user_error),
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  Words = []
    ;   split_string(Line, " ", " \r", Words)
    ).

field(Words, Key, Value) :-
    member(Word, Words),
    split_string(Word, "=", "", [Key, Text]),
    !,
    term_string(Value, Text).
