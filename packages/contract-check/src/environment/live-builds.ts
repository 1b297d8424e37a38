import { readGraphqlSchema } from '../graphql/read-contract.ts';
import { ifValid } from '../input-error.ts';
import { span, type Evidence } from './environment.ts';
import type { Build } from './generated/files.ts';
import { idOf, nameOf, type Party, type Question } from './question.ts';

/** A live app of which not everything is known. */
export interface UnknownApp {
  readonly app: string;
  /** The build, or the app if its rows are not all known. */
  readonly id: string;
  readonly message: string;
  readonly first: string;
}

/** The live builds, and each app of which one is not known, or not everything else. */
export function liveBuilds(environment: Evidence, now: Date): { live: Party[]; unknown: UnknownApp[] } {
  const { processes, builds, invalid, incomplete = [], environment: place } = environment;
  const live: Party[] = [];
  const unknown = incomplete.map(({ app, reason }): UnknownApp => {
    const message = `Not everything about ${app} is known: ${reason}.`;
    return { app, id: app, message, first: '' };
  });
  for (const same of Map.groupBy(processes, (process) => `${idOf(process)} ${process.digest}`).values()) {
    const [process] = same.toSorted((a, b) => Date.parse(b.lastSeenAt) - Date.parse(a.lastSeenAt));
    if (process === undefined) continue;
    const { app, digest, lastSeenAt } = process;
    const count = same.length === 1 ? '' : `${same.length} instances, `;
    const label = `${nameOf(process)} (${place}, ${count}seen ${span(now.getTime() - Date.parse(lastSeenAt))} ago)`;
    const build = builds.get(digest ?? '');
    const isOwn = build !== undefined && idOf(build) === idOf(process);
    if (isOwn) live.push({ build, label, isLive: true });
    else {
      const problem = invalid.get(digest ?? '');
      const why =
        problem === undefined
          ? `has the build ${digest}, whose contracts are missing`
          : `has a build whose contracts are invalid: ${problem}`;
      const message = `${label} ${digest === null ? 'did not register its build' : why}.`;
      unknown.push({ app, id: idOf(process), message, first: 'Replace it by a release that registers.' });
    }
  }
  return { live, unknown };
}

/** Reports a live build whose schemas are invalid. Only questions that read them ask. */
export function hasReadableSchemas({ found }: Question, { build, label, isLive }: Party): boolean {
  const problem = schemaProblem(build);
  if (problem === null) return true;
  if (isLive)
    found('deploy/buildUnknown', idOf(build), `${label} has a build whose contracts are invalid: ${problem}.`);
  return false;
}

/** Why a schema of a build cannot be read, or null. */
export function schemaProblem({ serves }: Build): string | null {
  for (const { file, sdl } of serves) {
    const problem = ifValid<string>(
      () => {
        readGraphqlSchema([{ file, text: sdl }]);
        return null;
      },
      ({ message }) => message,
    );
    if (problem !== null) return problem;
  }
  return null;
}
