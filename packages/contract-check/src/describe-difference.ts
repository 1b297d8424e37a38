/** Describes a value that was added, removed or changed. Null when there is no value. */
export function describeDifference(subject: string, from: string | null, to: string | null): string {
  if (from === null) return `${subject} was added: ${to}.`;
  if (to === null) return `${subject} was removed. It was ${from}.`;
  return `${subject} changed from ${from} to ${to}.`;
}
