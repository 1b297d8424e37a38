import { span } from './environment.ts';
import { idOf, type Question } from './question.ts';
import { oldestDay, uncountedUse, usesOf } from './use-coverage.ts';

/** @param subject a version of an interface or of an event: `customer@2026-11-01`, `order.placed@2026-11-01` */
export function checkRetirement(question: Question, subject: string): void {
  const { environment, parties, unusedForMs, found } = question;
  const served = parties.flatMap(({ build, label }) =>
    [
      ...build.serves.map((each) => ({ ...each, event: `${each.interface}@${each.version}` })),
      ...build.pins.map((each) => ({ ...each, interface: null })),
    ]
      .filter(({ event }) => event === subject)
      .map((each) => ({ ...each, id: idOf(build), label })),
  );
  if (served.length === 0) found('retire/notServed', subject, `No live build serves ${subject}.`);
  for (const { id, label, deprecatedOn } of served)
    if (deprecatedOn === null || deprecatedOn > oldestDay(question)) {
      const [since, first] =
        deprecatedOn === null
          ? ['is not deprecated', 'Deprecate it first.']
          : [`is deprecated since ${deprecatedOn} only`, ''];
      const message = `${subject} ${since} in ${label}, and has to be for ${span(unusedForMs)}.`;
      found('retire/deprecatedTooShort', id, message, first);
    }
  const move = 'Move it to another version first.';
  for (const { id, interface: name, event, version } of environment.pins)
    if ((event ?? `${name}@${version}`) === subject) found('retire/pinned', id, `${id} pins ${subject}.`, move);
  for (const { client, lastDay: day } of usesOf(question, subject, null))
    found('retire/used', client, `${client} used ${subject} on ${day}.`, move);
  const interfaces = new Set(served.map((each) => each.interface));
  if (environment.isQueueCut && interfaces.has(null))
    found('deploy/queueTooLong', 'queue', `Whether ${subject} is queued is unknown: the queue is too long.`);
  for (const { event, count } of environment.queued)
    if (event === subject) found('retire/queued', 'queue', `${count} deliveries of ${subject} are queued.`);
  for (const name of interfaces)
    for (const each of name === null ? [] : uncountedUse(question, name, null))
      found('retire/useNotCounted', each.split(/[: ]/, 1).join(''), each);
}
