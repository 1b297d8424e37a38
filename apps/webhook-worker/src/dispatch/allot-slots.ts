/** A lane that could send more now. */
export interface SlotRequest {
  /** Under way already. */
  inFlight: number;
  /** How many it may have under way. */
  cap: number;
}

/**
 * Deals free slots to lanes, one to each in turn, until they are out or no lane can use more: a lane with a long backlog
 * gets no more than one with a short one.
 *
 * @param lanes in the order of their turns
 * @param reserved kept for lanes with nothing under way: receivers that hang hold all other slots, and delay nobody else
 * @returns how many each gets, in the same order
 */
export function allotSlots(lanes: readonly SlotRequest[], free: number, reserved: number): number[] {
  const allotted = lanes.map(() => 0);
  let left = free;
  for (let dealt = true; dealt;) {
    dealt = false;
    for (const [index, { inFlight, cap }] of lanes.entries()) {
      const given = allotted[index] ?? 0;
      const available = inFlight + given === 0 ? left : left - reserved;
      if (available > 0 && inFlight + given < cap) {
        allotted[index] = given + 1;
        left -= 1;
        dealt = true;
      }
    }
  }
  return allotted;
}
