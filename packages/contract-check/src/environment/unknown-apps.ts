import { acceptedPins, isWorker, livePins, misfits } from './check-build.ts';
import type { Uses } from './generated/files.ts';
import type { UnknownApp } from './live-builds.ts';
import { rightsOf, type Party, type Question } from './question.ts';

/** Whether the answer about a build depends on an unknown app, of which any builds can be live and any pins accepted. */
export function buildDependsOn(question: Question, own: Party, { app }: UnknownApp): boolean {
  const { parties } = question;
  const rights = rightsOf(question, app);
  if (rights === undefined || app === own.build.app || isWorker(question, own.build)) return true;
  const accepted = acceptedPins(question, own.build);
  if (rights.renders) return own.build.appends.length + accepted.length > 0;
  if (own.build.serves.some((each) => each.interface === rights.interface)) return true;
  const before = livePins(question, own);
  // It may append less than a worker needs for a pin that becomes possible.
  if (accepted.some((event) => !before.has(event))) return true;
  // It may accept a pin for which the build appends too little.
  return parties.some((worker) => {
    const rendered = worker.build.renders.map(({ event }) => event);
    return misfits(question, own, worker, rendered).some(({ rule }) => rule.startsWith('deploy/snapshot'));
  });
}

/** Whether the answer about a consumer depends on an unknown app. All apps that accept pins matter for its events. */
export function consumerDependsOn(question: Question, { schema, events }: Uses, { app }: UnknownApp): boolean {
  const rights = rightsOf(question, app);
  return rights === undefined || events.length > 0 || schema.some((each) => each.package === rights.package);
}

/** Whether the answer about a version depends on an unknown app. All apps that accept pins matter for a version of an event. */
export function retirementDependsOn(question: Question, subject: string, { app }: UnknownApp): boolean {
  const interfaces = (question.environment.apps ?? []).map((each) => each.interface);
  const [name = ''] = subject.split('@', 1);
  const rights = rightsOf(question, app);
  return rights === undefined || !interfaces.includes(name) || rights.interface === name;
}
