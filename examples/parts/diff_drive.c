/* Two driven wheels side by side, with slip and limited acceleration: SPREAD's actuator, and what the
 * simulator's own `diff-drive` does, to the bit.
 *
 *   left, right (m/s) ──▶ [ limits ] ──▶ wheel speeds ──▶ [ slip ] ──▶ motion of the robot
 *
 * Keys: Base [cm], Max Speed [cm/s], Acceleration [cm/s2], Grip, Slip [%].
 */
#include "part.h"

static int left, right, left_speed, right_speed, left_slip, right_slip;
static double base, max_speed, slip, change, slide_change;

/* What is kept: the speeds of the wheels, and the motion that was asked for. */
enum { WHEEL_LEFT, WHEEL_RIGHT, ASKED_FORWARD, ASKED_SPIN, KEPT };

void part_describe(void)
{
    base = part_param_in("Base", "cm", 20);
    part_wheel_base(base);
    left = part_command("left", 1, "m/s", PART_LEAST, PART_MOST, "Wanted speed of the left wheel.");
    right = part_command("right", 1, "m/s", PART_LEAST, PART_MOST, "Wanted speed of the right wheel.");
    left_speed = part_reading("left_speed", 1, "m/s", PART_LEAST, PART_MOST, "Speed of the left wheel.");
    right_speed = part_reading("right_speed", 1, "m/s", PART_LEAST, PART_MOST, "Speed of the right wheel.");
    left_slip = part_reading("left_slip", 1, "", -1, 1, "Slip of the left wheel in this quantum.");
    right_slip = part_reading("right_slip", 1, "", -1, 1, "Slip of the right wheel in this quantum.");
    part_keep(KEPT);
}

void part_setup(void)
{
    double endless = __builtin_inf();
    double acceleration = part_has("Acceleration") ? part_param_in("Acceleration", "cm/s2", 0) : endless;
    double grip = part_has("Grip") ? part_param("Grip", 0) * part_gravity() : endless;
    max_speed = part_param_in("Max Speed", "cm/s", 100);
    slip = part_param_in("Slip", "%", 0);
    /* How much a speed may change in one quantum. */
    change = part_min(acceleration, grip) * part_quantum_s();
    slide_change = grip * part_quantum_s();
    if (part_detail() == PART_COARSE) {
        change = slide_change = endless;
        slip = 0;
    }
}

void part_step(void)
{
    part_body me;
    double wheel_left = part_state(WHEEL_LEFT), wheel_right = part_state(WHEEL_RIGHT);
    double slip_left = 0, slip_right = 0, ground_left, ground_right, forward, spin;

    part_self(&me);
    /* Undisturbed, the wheels turn as they did; after an impact, as the floor passes under them. */
    if (me.forward != part_state(ASKED_FORWARD) || me.spin != part_state(ASKED_SPIN)) {
        double swing = me.spin * base / 2;
        wheel_left = me.forward - swing;
        wheel_right = me.forward + swing;
    }
    wheel_left = part_approach(wheel_left, part_clamp(part_in(left, 0), -max_speed, max_speed), change);
    wheel_right = part_approach(wheel_right, part_clamp(part_in(right, 0), -max_speed, max_speed), change);
    if (slip > 0) {
        part_chance(PART_CHANCE_WHEEL_SLIP);
        slip_left = part_clamp(slip * part_normal(0), -1, 1);
        slip_right = part_clamp(slip * part_normal(1), -1, 1);
    }
    ground_left = wheel_left * (1 + slip_left);
    ground_right = wheel_right * (1 + slip_right);
    forward = (ground_left + ground_right) / 2;
    spin = (ground_right - ground_left) / base;
    part_motion(forward, part_approach(me.left, 0, slide_change), spin);

    part_out(left_speed, 0, wheel_left);
    part_out(right_speed, 0, wheel_right);
    part_out(left_slip, 0, slip_left);
    part_out(right_slip, 0, slip_right);
    part_set_state(WHEEL_LEFT, wheel_left);
    part_set_state(WHEEL_RIGHT, wheel_right);
    part_set_state(ASKED_FORWARD, forward);
    part_set_state(ASKED_SPIN, spin);
}
