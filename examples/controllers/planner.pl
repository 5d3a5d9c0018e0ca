#!/usr/bin/env swipl
/*  planner.pl - plans a route over a network of tracks while it drives, and plans anew when a track is
    closed.

    The robot has (worlds/parts/surveyor.robot): a row of seven track sensors that look straight down,
    and two wheels that count their way in mm. It walks from place to place as junction.h does in C.

    The map, with lengths in decimetres (worlds/prolog.toml). The robot starts at a and wants to b:

                 f                              north
                 | 6                              |
                 e ---11--- g               west -+- east
                 | 6        | 6                   |
      a -6- c-10-d          h --9-- j -6- b     south
            |               | 7     |
            14              i       14
            |                       |
            k ----------30--------- l

    The idea, plan while executing (SPREAD, section 6.8): a plan is only needed where the ways part.
    So the robot drives on, and meanwhile the search goes one place further in every tick. A track that
    ends where the map says it goes on is closed: the robot remembers that, turns back to the place it
    came from, and on the way back looks for another route from there.
*/
:- use_module('../../sdk/prolog/rio').
:- initialization(main, main).
:- dynamic closed/2, search/2, plan/1, going/2, facing/1, phase/3, seen/1.

main :-
    asserta(going(a, c)),
    asserta(facing(east)),
    asserta(phase(leaving, 0, 0)),
    look_for_route(c),
    rio_run(step).

step(_Tick) :-
    search_on,
    walk(Event),
    ( Event == nothing -> true ; arrived(Event) ).

% ---- The map -------------------------------------------------------------------------------------

track(a, c, east, 6).   track(c, d, east, 10).  track(d, e, north, 6).  track(e, f, north, 6).
track(e, g, east, 11).  track(g, h, south, 6).  track(h, i, south, 7).  track(h, j, east, 9).
track(j, b, east, 6).   track(c, k, south, 14). track(k, l, east, 30).  track(l, j, north, 14).

goal(b).

opposite(east, west).   opposite(west, east).   opposite(north, south). opposite(south, north).
left_of(east, north).   left_of(north, west).   left_of(west, south).   left_of(south, east).

way(From, To, Direction, Length) :- track(From, To, Direction, Length).
way(From, To, Direction, Length) :- track(To, From, Back, Length), opposite(Back, Direction).

%!  dead_end(+Place): only one track goes there.
dead_end(Place) :- findall(To, way(Place, To, _, _), [_]).

%!  turn(+From, +To, -Where): how to turn, from one direction to another.
turn(D, D, ahead) :- !.
turn(D, E, left)  :- left_of(D, E), !.
turn(D, E, back)  :- opposite(D, E), !.
turn(_, _, right).

% ---- Planning: shortest routes first, one place per tick --------------------------------------------

%!  look_for_route(+From): search(Routes, Done) are routes as Length-[Place, ..., From], the shortest
%   first, and the places whose shortest route is known.
look_for_route(From) :-
    retractall(plan(_)),
    retractall(search(_, _)),
    asserta(search([0-[From]], [])).

search_on :-
    retract(search([Length-[Place | Before] | Others], Done)),
    !,
    (   goal(Place)
    ->  reverse([Place | Before], Plan),
        asserta(plan(Plan)),
        atomic_list_concat(Plan, ' ', Text),
        format(string(Line), "the route is ~w, ~w decimetres", [Text, Length]),
        rio_log(Line)
    ;   memberchk(Place, Done)
    ->  asserta(search(Others, Done))
    ;   findall(L-[To, Place | Before], ( open_way(Place, To, D), L is Length + D ), Longer),
        append(Others, Longer, Routes),
        keysort(Routes, Sorted),
        asserta(search(Sorted, [Place | Done]))
    ).
search_on.

open_way(From, To, Length) :- way(From, To, _, Length), \+ closed(From, To), \+ closed(To, From).

% ---- Executing ----------------------------------------------------------------------------------------

%!  arrived(+Event): the robot stands at an end, or where other tracks meet its own.
arrived(end) :-
    going(From, To),
    \+ dead_end(To),
    !,
    say("the track from ~w to ~w is closed", [From, To]),
    assertz(closed(From, To)),
    look_for_route(From),
    facing(Direction),
    opposite(Direction, Back),
    go(To, From, Back).
arrived(_) :-
    going(_, Here),
    say("at ~w", [Here]),
    (   goal(Here)
    ->  begin(done)
    ;   leave(Here)
    ).

%!  leave(+Here): by the plan; where there is none yet, the robot waits for it.
leave(Here) :-
    (   retract(plan([Here, Next | Rest]))
    ->  asserta(plan([Next | Rest])),
        way(Here, Next, Direction, _),
        go(Here, Next, Direction)
    ;   begin(waiting)
    ).

go(From, To, Direction) :-
    retract(facing(Old)),
    turn(Old, Direction, Where),
    asserta(facing(Direction)),
    retractall(going(_, _)),
    asserta(going(From, To)),
    ( Where == ahead -> begin(leaving) ; begin(spinning(Where)) ).

say(Format, Arguments) :- format(string(Line), Format, Arguments), rio_log(Line).

% ---- Walking from place to place, as in junction.h ------------------------------------------------------

speed(300).     % mm/s
to_axle(84).    % mm from where the row meets a branch until the axle stands on its middle
leave_mm(40).   % mm after a turn in which branches are not looked for: it is still the same place

%!  walk(-Event): one tick on the way; Event is nothing, place or end.
walk(Event) :-
    phase(Phase, Left0, Right0),
    rio_peeks32(0x10, Left),
    rio_peeks32(0x14, Right),
    Gone is (Left - Left0 + Right - Right0) // 2,
    Turned is abs((Right - Right0) - (Left - Left0)),
    walk(Phase, Gone, Turned, Event).

walk(following, _, _, nothing) :-
    follow,
    ( ( eye(0) ; eye(6) ; \+ any_eye ) -> retractall(seen(_)), begin(crossing) ; true ).
walk(crossing, Gone, _, Event) :-
    speed(V), drive(V, 0),
    forall(( member(K, [0, 6]), eye(K), \+ seen(K) ), assertz(seen(K))),
    to_axle(Far),
    (   Gone < Far
    ->  Event = nothing
    ;   begin(leaving), drive(0, 0),
        (   seen(_)
        ->  Event = place
        ;   member(K, [2, 3, 4]), eye(K)
        ->  Event = nothing                     % nothing but the track itself
        ;   Event = end
        )
    ).
walk(spinning(Where), _, Turned, nothing) :-
    spin(Where, Turn, Least),
    drive(0, Turn),
    ( Turned > Least, centred -> begin(leaving) ; true ).
walk(leaving, Gone, _, nothing) :-
    follow,
    leave_mm(Far),
    ( Gone > Far -> begin(following) ; true ).
walk(waiting, _, _, nothing) :-
    drive(0, 0),
    going(_, Here),
    leave(Here).
walk(done, _, _, nothing) :- drive(0, 0).

%!  spin(+Where, -Turn, -Least): wheel speed, and mm that the wheels turn against each other at least.
spin(left, 120, 160).
spin(right, -120, 160).
spin(back, 120, 320).

begin(Phase) :-
    rio_peeks32(0x10, Left),
    rio_peeks32(0x14, Right),
    retractall(phase(_, _, _)),
    asserta(phase(Phase, Left, Right)).

% ---- Following the track, as in line.h --------------------------------------------------------------------

%!  drive(+Speed, +Turn): the left wheel slower and the right one faster by Turn, so it turns left.
drive(Speed, Turn) :-
    rio_poke16(0x20, Speed - Turn),
    rio_poke16(0x22, Speed + Turn).

%!  eye(+K): sensor K sees the track; 0 is the leftmost, 6 the rightmost.
eye(K) :- rio_peek8(K, 1).

any_eye :- between(0, 6, K), eye(K), !.

%!  offset(-Offset): where in the row the track is, in hundredths of a sensor, positive to the left.
offset(Offset) :-
    findall(B-P, ( between(0, 6, K), At is 8 + K, rio_peek8(At, V), B is V - 30, B > 0, P is B * (300 - 100 * K) ), All),
    (   All == []
    ->  Offset = 0
    ;   pairs_keys_values(All, Bright, Places),
        sum_list(Bright, Weight), sum_list(Places, Sum),
        Offset is Sum // Weight
    ).

centred :- eye(3), offset(Offset), abs(Offset) < 40.

follow :-
    speed(V),
    offset(Offset),
    drive(V - V * abs(Offset) // 300, V * Offset // 200).
