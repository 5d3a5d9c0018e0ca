/* follow_track_bug.c - follow_track.c with the mistake of the robot in Figure 7-2 of the SPREAD paper.
 *
 * "The test run subsequently shows an error in the control algorithm where rather than reverting to
 * track following as intended when the track is found again it continues to follow the edges of the
 * obstacle."
 */
#define NEVER_REVERT
#include "follow_track.c"
