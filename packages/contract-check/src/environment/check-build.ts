import { compareGraphql } from '../graphql/compare-graphql.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { dayOf } from '../workspace/version-status.ts';
import type { Build } from './generated/files.ts';
import { idOf, nameOf, type Party, type Question } from './question.ts';
import { uncountedUse, usesOf } from './use-coverage.ts';

/** Asks whether a build fits the database, each party, and what clients and subscriptions use. */
export function checkBuild(question: Question, own: Party): void {
  const { environment, parties, known, found } = question;
  const { build } = own;
  const apps = [...environment.expectedApps, ...environment.otherApps];
  const noApp = `${build.app} is no app of ${environment.environment}: ${apps.join(', ')}.`;
  if (!apps.includes(build.app)) found('deploy/appUnknown', build.app, noApp);
  checkMigration(question, own);
  checkPairs();
  if (isWorker(question, build)) checkDropped(question, own);
  for (const party of parties) if (party.isLive && party.build.app === build.app) checkServed(question, own, party);

  /** Each writer and worker, of which one is the build, or of which the worker has to render a pin that the build accepts. */
  function checkPairs(): void {
    const accepted = acceptedPins(question, build);
    const used = [...environment.pins, ...environment.queued].flatMap(({ event }) => event ?? []);
    const needed = [...used, ...accepted, ...parties.flatMap((party) => acceptedPins(question, party.build))];
    for (const writer of [own, ...parties])
      for (const worker of [own, ...parties]) {
        if (writer === own && worker === own) continue;
        const isOwn = writer === own || worker === own;
        // What another writer accepts already does not break by this build, which may be what repairs it.
        const kept = isOwn ? [] : acceptedPins(question, writer.build);
        const added = accepted.filter((event) => !kept.includes(event));
        for (const misfit of misfits(question, writer, worker, isOwn ? needed : added)) {
          const { rule, contract, message } = misfit;
          if (!isOwn && rule !== 'deploy/snapshotInsufficient') continue;
          const other = worker === own ? writer : worker;
          const fits = (each: Build): boolean =>
            each.app === worker.build.app &&
            misfits(question, writer, { ...worker, build: each }, needed).every(
              (left) => typeOf(left.contract) !== typeOf(contract),
            );
          const fit = worker === own ? undefined : known.find(fits);
          const what = worker === own ? misfit.ofWriter : misfit.ofWorker;
          const first = fit === undefined ? `a version of ${other.build.app} that ${what}` : nameOf(fit);
          found(rule, `${idOf(other.build)} ${contract}`, message, `Deploy ${first} first.`);
        }
      }
  }
}

function checkMigration({ environment, found }: Question, { build: { migration }, label }: Party): void {
  const { migration: applied, needsMigration, environment: place } = environment;
  const number = Number.parseInt(migration, 10);
  const needs = `The database of ${place} has the migration ${applied}, but ${label} needs ${migration}.`;
  if (number > Number.parseInt(applied, 10))
    found('deploy/migrationMissing', migration, needs, 'Apply the migrations first.');
  const ends = `The database of ${place} has ended builds before the migration ${needsMigration}, but ${label} knows only ${migration}, so it would not start.`;
  if (needsMigration !== null && number < Number(needsMigration)) found('deploy/migrationTooLate', migration, ends);
}

/** What a writer, which appends events and accepts pins, has that a worker cannot handle. */
function misfits(question: Question, writer: Party, worker: Party, events: readonly string[]) {
  if (!isWorker(question, worker.build)) return [];
  const { appends } = writer.build;
  const unknown = appends.map(({ type }) => type).filter((type) => !knows(worker.build, type));
  return [
    ...unknown.map((type) => ({
      rule: 'deploy/typeUnknown' as const,
      contract: type,
      message: `${worker.label} does not know ${type}, which ${writer.label} appends. These events would wait.`,
      ofWorker: `knows ${type}`,
      ofWriter: `does not append ${type}`,
    })),
    ...acceptedPins(question, writer.build)
      .filter((event) => !renders(worker.build, event) && !unknown.includes(typeOf(event)))
      .map((event) => ({
        rule: 'deploy/versionNotRendered' as const,
        contract: event,
        message: `${worker.label} cannot render ${event}, which ${writer.label} accepts as a pin. These events would wait.`,
        ofWorker: `renders ${event}`,
        ofWriter: `does not accept ${event}`,
      })),
    ...worker.build.renders
      .filter(({ event }) => events.includes(event))
      .flatMap(({ event, needs }) => {
        const appended = appends.find(({ type }) => type === typeOf(event));
        const lacking = appended === undefined ? null : lackingIn(appended.snapshot, needs);
        return lacking === null ? [] : [{ event, lacking }];
      })
      .map(({ event, lacking }) => ({
        rule: 'deploy/snapshotInsufficient' as const,
        contract: event,
        message: `${worker.label} cannot render ${event} from what ${writer.label} appends: ${lacking} These deliveries would fail.`,
        ofWorker: `renders ${event} from it`,
        ofWriter: `appends what ${event} needs`,
      })),
  ];
}

/** What a worker lacks of what subscriptions pin, and of what is queued. */
function checkDropped({ environment, found }: Question, { build, label }: Party): void {
  for (const [event, pins] of Map.groupBy(environment.pins, (pin) => pin.event)) {
    if (event === null || renders(build, event)) continue;
    const message = `${label} cannot render ${event}, which ${pinnedBy(pins)}. These events would wait.`;
    found('deploy/versionNotRendered', event, message, movePins);
  }
  if (environment.isQueueCut)
    found('deploy/queueTooLong', 'queue', 'Not all types in the queue are known: it is too long.');
  for (const { type, event, count } of environment.queued) {
    if (event === null ? knows(build, type) : renders(build, event)) continue;
    const message = `${label} does not know ${event ?? type}, which is queued (${count}).`;
    found('deploy/typeUnknown', `queue ${event ?? type}`, message, 'Let the live worker deliver them first.');
  }
}

/** What a build lacks of what clients and subscriptions pin or use of another build of its app. */
function checkServed(question: Question, own: Party, other: Party): void {
  const { environment, found } = question;
  const { build, label } = own;
  const accepted = acceptedPins(question, build);
  for (const event of acceptedPins(question, other.build).filter((each) => !accepted.includes(each))) {
    const isServed = (name: string): boolean => other.build.serves.some((served) => served.interface === name);
    const pins = environment.pins.filter((pin) => pin.event === event && isServed(pin.interface));
    const message = `${label} does not accept ${event}, which ${pinnedBy(pins)}.`;
    if (pins.length > 0) found('deploy/usedContractBroken', `${idOf(other.build)} ${event}`, message, movePins);
  }
  for (const served of other.build.serves) {
    const version = `${served.interface}@${served.version}`;
    const now = build.serves.find((each) => each.interface === served.interface && each.version === served.version);
    if (now === undefined) lost('', `does not serve ${version}.`, false);
    else if (now.sha256 !== served.sha256 || now.sdl !== served.sdl)
      for (const { verdict, rule, coordinate, message } of compareGraphql(sdlOf(other, served), sdlOf(own, now))
        .changes)
        if (verdict === 'major')
          lost(coordinate, `breaks ${coordinate} of ${version}: ${message}`, rule === 'graphql/fieldRemoved');

    /** @param isUsers whether only the users of the coordinate lose something */
    function lost(coordinate: string, problem: string, isUsers: boolean): void {
      const key = `${served.version} ${coordinate}`;
      const isCounted = environment.counting.some(
        ({ app, coordinates }) => app === build.app && coordinates.split('\n').includes(key),
      );
      const counted = isUsers && isCounted ? coordinate : null;
      const pins = environment.pins.filter((pin) => counted === null && `${pin.interface}@${pin.version}` === version);
      const uses = usesOf(question, version, counted);
      const users = [...new Set([...pins.map(({ id }) => id), ...uses.map(({ client }) => client)])];
      const place = `${idOf(other.build)} ${version} ${coordinate}`.trim();
      const first = `Move these clients first, or deploy a version of ${build.app} that keeps it.`;
      if (users.length > 0)
        return found(
          'deploy/usedContractBroken',
          place,
          `${label} ${problem} It is used by ${users.join(', ')}.`,
          first,
        );
      const missing = uncountedUse(question, served.interface, counted && key);
      if (missing.length > 0)
        found('deploy/useNotCounted', place, `${label} ${problem} Its use is unknown: ${missing.join(' ')}`);
    }
  }
}

const movePins = 'Move these pins to another version first.';

function pinnedBy([first, ...others]: readonly { readonly id: string }[]): string {
  return others.length === 0 ? `${first?.id} pins` : `${first?.id} and ${others.length} more pin`;
}

/** Why a worker cannot render from a snapshot. Null if it can. */
function lackingIn(snapshot: object, needs: object): string | null {
  const { changes } = compareJsonSchemas(sourceOf(needs), sourceOf(snapshot), { direction: 'producer' });
  const broken = changes.find(({ verdict }) => verdict === 'major');
  return broken === undefined ? null : `${broken.coordinate}: ${broken.message}`;
}

function sourceOf(schema: object) {
  return { file: 'snapshot', text: JSON.stringify(schema) };
}

/** Pins end with the sunset of their version. */
export function acceptedPins({ environment }: Question, { pins }: Build): string[] {
  const today = dayOf(new Date(environment.takenAt));
  return pins.flatMap(({ event, sunsetOn }) => (sunsetOn === null || sunsetOn > today ? [event] : []));
}

/** Also a build that renders nothing, of an app whose other builds do. */
function isWorker({ known }: Question, { app }: Build): boolean {
  return known.some((each) => each.app === app && each.renders.length > 0);
}

/** The type of an event version, or a type as it is. */
function typeOf(event: string): string {
  return event.split('@', 1).join('');
}

function knows(worker: Build, type: string): boolean {
  return worker.renders.some(({ event }) => typeOf(event) === type);
}

export function renders(worker: Build, event: string): boolean {
  return worker.renders.some((each) => each.event === event);
}

export function sdlOf({ build }: Party, { file, sdl }: Build['serves'][number]) {
  return { file: `${idOf(build)}:${file}`, text: sdl };
}
