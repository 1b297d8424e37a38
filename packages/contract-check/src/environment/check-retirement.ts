import { coverageOfInterface, usesOf } from './check-build.ts';
import { span } from './environment.ts';
import { foundFor, idOf, type Question } from './question.ts';

/** @param subject a version of an interface or of an event: `lender@2026-11-01`, `referral.converted@2026-11-01` */
export function checkRetirement(question: Question, subject: string): void {
  const { environment, parties, unusedForMs, oldestDay } = question;
  const found = foundFor(question, subject);
  const served = parties
    .flatMap(({ build, label }) => [
      ...build.serves.map((each) => ({
        id: `${each.interface}@${each.version}`,
        name: each.interface,
        deprecatedOn: each.deprecatedOn,
        build,
        label,
      })),
      ...build.pins.map((each) => ({ id: each.event, name: null, deprecatedOn: each.deprecatedOn, build, label })),
    ])
    .filter(({ id }) => id === subject);
  if (served.length === 0) found('unknown', 'retire/notServed', subject, `No live build serves ${subject}.`);
  for (const { build, label, deprecatedOn } of served)
    if (deprecatedOn === null || deprecatedOn > oldestDay) {
      const since = deprecatedOn === null ? 'is not deprecated' : `is deprecated since ${deprecatedOn} only`;
      const message = `${subject} ${since} in ${label}, and has to be for ${span(unusedForMs)}.`;
      const first = deprecatedOn === null ? 'Deprecate it first.' : '';
      found('no', 'retire/deprecatedTooShort', idOf(build), message, first);
    }
  for (const { id, interface: name, event, version } of environment.pins)
    if (event === subject || (event === null && `${name}@${version}` === subject))
      found('no', 'retire/pinned', id, `${id} pins ${subject}.`, 'Move it to another version first.');
  for (const { client, lastDay: day } of usesOf(question, subject, null))
    found('no', 'retire/used', client, `${client} used ${subject} on ${day}.`, 'Move it to another version first.');
  if (environment.isQueueCut && served.some(({ name }) => name === null))
    found('unknown', 'retire/queued', 'queue', `Whether ${subject} is queued is unknown: the queue is too long.`);
  for (const { event, count } of environment.queued)
    if (event === subject) found('no', 'retire/queued', 'queue', `${count} deliveries of ${subject} are queued.`);
  for (const name of new Set(served.flatMap((each) => each.name ?? []))) {
    const { missing, gaps } = coverageOfInterface(question, name, null);
    for (const each of missing) found('unknown', 'retire/useNotCounted', each.split(/[: ]/, 1)[0] ?? '', each);
    for (const gap of gaps) question.gaps.add(gap);
  }
}
