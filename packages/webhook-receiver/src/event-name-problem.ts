/**
 * Which part of an event's name is unknown, what there is, and which type may be meant. Null if the event is known.
 *
 * @param names each as `<type>/<version>`
 */
export function eventNameProblem(names: readonly string[], type: string, version: string): string | null {
  if (names.includes(`${type}/${version}`)) return null;
  const ofType = names.filter((name) => name.startsWith(`${type}/`));
  if (ofType.length > 0) return `${type} has no version ${version}. This release has: ${ofType.join(', ')}.`;
  /** How many pairs of characters of the name the type has too. */
  const likeness = (name: string): number =>
    [...name].filter((_, index) => type.includes(name.slice(index, index + 2))).length;
  const nearest = names.reduce((best, name) => (likeness(name) > likeness(best) ? name : best), '');
  const hint = likeness(nearest) > type.length / 2 ? ` Did you mean ${nearest.split('/', 1).join()}?` : '';
  return `There is no event type ${type}.${hint} This release has: ${names.join(', ')}.`;
}
