import type { Build } from '../../src/environment/generated/files.ts';
import { ago, api, buildOf, environmentOf, exported, signed, worker } from './environment.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** Builds that must not be deployed, each with the text of the export that says so. */
export function refusedBuilds(): { build: Build; environment: string }[] {
  const livingApi = buildOf('customer-api', '0.5.0', api);
  const livingWorker = buildOf('webhook-worker', '0.4.1', worker);
  const newApi = buildOf('customer-api', '0.6.0', api);
  const { '2026-11-01': _left, ...others } = api.serves;
  const without = buildOf('customer-api', '0.6.0', { ...api, serves: others });
  const newWorker = buildOf('webhook-worker', '0.5.0', { renders: { 'entry.posted@2026-11-01': ['id'] } });
  const whole = environmentOf([livingApi, livingWorker, buildOf('supplier-api', '0.1.0', {})]);
  const of = { account: 'acc_1', interface: 'customer' };
  const client = { id: 'client_1', ...of, event: null, version: '2026-11-01' };
  const use = {
    client: 'client_2',
    ...of,
    version: '2026-11-01',
    coordinate: null,
    firstDay: ago(60 * day).slice(0, 10),
    lastDay: ago(50 * day).slice(0, 10),
    count: 4,
  };
  const lost = { app: 'customer-api', version: '0.4.0', digest: null, startedAt: ago(day), lastSeenAt: ago(9000) };
  const refused: [Build, Parameters<typeof environmentOf>[1]][] = [
    [without, { pins: [client] }],
    [without, { uses: [use] }],
    [without, { gaps: [{ app: 'customer-api', from: ago(9 * day), until: ago(9 * day - 1000), reason: 'kill' }] }],
    [newApi, { expectedApps: ['supplier-api', 'operator-cli', 'customer-api', 'webhook-worker'] }],
    [newApi, { processes: [...whole.processes, lost] }],
    [newApi, { needsMigration: '0048' }],
    [livingWorker, { isQueueCut: true }],
    [newWorker, { queued: [{ type: 'entry.posted', event: 'entry.posted@2026-01-01', count: 1 }] }],
  ];
  return refused.map(([build, changes]) => ({ build, environment: exported({ ...whole, ...changes }) }));
}

/**
 * The texts of an export out of which one member or item was cut, with a digest that is right, unless it is that which was cut.
 *
 * @param maxDepth 1: the members of the export itself
 */
export function* cutsOf(environment: string, maxDepth: number): Generator<{ path: string; text: string }> {
  for (const { path, cut } of cuts(JSON.parse(environment), maxDepth)) {
    const { digest: _digest, ...rest } = Object(cut);
    yield { path, text: path === 'digest' ? JSON.stringify(rest) : signed(rest) };
  }
}

function* cuts(value: unknown, maxDepth: number): Generator<{ path: string; cut: unknown }> {
  if (maxDepth === 0 || typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    if (Array.isArray(value)) yield { path: key, cut: value.toSpliced(Number(key), 1) };
    else yield { path: key, cut: Object.fromEntries(Object.entries(value).filter(([name]) => name !== key)) };
    for (const inner of cuts(Reflect.get(value, key), maxDepth - 1)) {
      const cut = Array.isArray(value) ? value.with(Number(key), inner.cut) : { ...value, [key]: inner.cut };
      yield { path: `${key}/${inner.path}`, cut };
    }
  }
}
