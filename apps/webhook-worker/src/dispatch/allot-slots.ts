/**
 * Deals free slots to lanes, one to each in turn, until they are out or no lane can use more: a lane with a long backlog
 * gets no more than one with a short one.
 *
 * @param lanes how many more each could use now, in the order of their turns
 * @returns how many each gets, in the same order
 */
export function allotSlots(lanes: readonly number[], free: number): number[] {
  const allotted = lanes.map(() => 0);
  let left = free;
  for (let dealt = true; dealt && left > 0;) {
    dealt = false;
    for (const [index, wanted] of lanes.entries()) {
      const given = allotted[index] ?? 0;
      if (left > 0 && given < wanted) {
        allotted[index] = given + 1;
        left -= 1;
        dealt = true;
      }
    }
  }
  return allotted;
}
