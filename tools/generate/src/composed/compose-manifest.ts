type Entries = Readonly<Record<string, unknown>>;
/** Section → its entries. */
export type Sections = Readonly<Record<string, Entries>>;

/** The key in `limits` of an edition that stands for the limits of what only one interface has. */
const ownLimits = '{own}';

/** Those whose names are coordinates. */
export const fieldSections = ['abilities', 'costWeights', 'costListSizes', 'costPageMaximums'];
const ownSections = ['limits', ...fieldSections];

/**
 * The manifest of a version.
 *
 * @param own the limits, abilities and costs of what only this interface has
 * @param editions of every interface, oldest first. A later one replaces entries, and removes those that it has as null
 * @throws {Error} if both have an entry, `own` has another section, its limits have no place, or nothing is there to remove
 */
export function composeManifest(own: Sections, editions: readonly Sections[]): Sections {
  const unknown = Object.keys(own).find((section) => !ownSections.includes(section));
  if (unknown !== undefined)
    throw new Error(
      `An interface cannot have its own ${unknown}, only ${new Intl.ListFormat('en-GB').format(ownSections)}.`,
    );
  const composed = Object.entries(editions.reduce(changedBy, {})).map(([section, entries]) => {
    const additions = own[section] ?? {};
    const both = Object.keys(additions).find((name) => name in entries);
    if (both !== undefined) throw new Error(`${both} is in the common half, which every interface has.`);
    if (section === 'limits') return [section, withOwnLimits(entries, additions)] as const;
    return [section, fieldSections.includes(section) ? withOwnFields(entries, additions) : entries] as const;
  });
  return Object.fromEntries(composed);
}

/** As the formatter writes it: short lists on one line. */
export function printManifest(manifest: Sections): string {
  const text = JSON.stringify(manifest, null, 2);
  return `${text.replaceAll(/\[\s+([\w"]+(?:,\s+[\w"]+)*)\s+\]/g, (_, list: string) => `[${list.split(/,\s+/).join(', ')}]`)}\n`;
}

function changedBy(earlier: Sections, edition: Sections): Sections {
  const changed: Record<string, Entries> = { ...earlier };
  for (const [section, entries] of Object.entries(edition)) {
    const known = earlier[section] ?? {};
    const removed = Object.keys(entries).filter((name) => entries[name] === null);
    const unknown = removed.find((name) => !(name in known));
    if (unknown !== undefined) throw new Error(`No earlier edition has ${unknown}, which a later one removes.`);
    const kept = Object.entries({ ...known, ...entries }).filter(([name]) => !removed.includes(name));
    changed[section] = Object.fromEntries(kept);
  }
  return changed;
}

function withOwnLimits(limits: Entries, own: Entries): Entries {
  if (!(ownLimits in limits))
    throw new Error(`No edition has a place for the limits of one interface, "${ownLimits}".`);
  const entries = Object.entries(limits);
  return Object.fromEntries(entries.flatMap((entry) => (entry[0] === ownLimits ? Object.entries(own) : [entry])));
}

/** In the order of the first words of the coordinates. As in the SDL, own entries precede common ones. */
function withOwnFields(common: Entries, own: Entries): Entries {
  const entries = [...Object.entries(own), ...Object.entries(common)];
  return Object.fromEntries(entries.toSorted(([one], [other]) => compare(firstWord(one), firstWord(other))));
}

/** For example `Mutation.create` or `Create`. */
function firstWord(coordinate: string): string {
  return /^(?:(?:Query|Mutation)\.)?[A-Za-z][a-z]*/.exec(coordinate)?.[0] ?? '';
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
