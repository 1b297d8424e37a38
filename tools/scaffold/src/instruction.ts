/** A place that a person has to complete. `pnpm check` fails and shows `what` until the comment is removed. */
export function instruction(what: string): string {
  return `FILL IN: ${what}`;
}
