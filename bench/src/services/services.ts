import { Pool } from 'undici';
import { type Bench, BenchProblem } from '../bench.ts';
import { startChild } from '../child.ts';
import { startReceiverChild, type ReceiverChild } from '../delivery/receiver-child.ts';
import { ours } from '../delivery/report.ts';
import { withStack } from '../delivery/stack.ts';
import type { LoadRequest, LoadResult } from '../graphql/load-protocol.ts';
import { describeMachine } from '../report.ts';
import { connections, eventsPerRound, measureLatencies, sendEvent, sendEvents, type Servers } from './cases.ts';
import { connectServices, serviceOptions } from './connect.ts';
import { startDeedwire } from './deedwire.ts';
import {
  type EventsRound,
  latencyResult,
  rateResult,
  type ServiceResult,
  servicesMarkdown,
  type ServicesReport,
} from './report.ts';
import type { Service, Tenant } from './service.ts';

type RatePart = 'one' | 'twenty';
type PartName = RatePart | 'idle' | 'hanging';

const parts: Readonly<Record<PartName, string>> = {
  one: `from the call to the delivery, ${connections} connections, one endpoint`,
  twenty: 'the same with 20 endpoints per event',
  idle: 'the latency from the call to the arrival at one endpoint',
  hanging: 'the same beside 300 endpoints of other tenants that never respond',
};

interface Plan {
  rounds: number;
  roundMs: number;
  warmUpMs: number;
  /** In each round of `idle`, and in `hanging`. */
  pacedEvents: number;
  hangingTenants: number;
}

const full: Plan = { rounds: 3, roundMs: 6_000, warmUpMs: 2_000, pacedEvents: 200, hangingTenants: 15 };
const short: Plan = { rounds: 1, roundMs: 300, warmUpMs: 100, pacedEvents: 10, hangingTenants: 1 };

const endpointsPerEvent = 20;
const eventsPerHangingTenant = 3;
const arrivalTimeoutMs = 100_000;
const checkTimeoutMs = 30_000;

interface Contestant {
  service: Service;
  /** With one endpoint, and with twenty. */
  one: Tenant;
  twenty: Tenant;
}

export const services: Bench = {
  name: 'services',
  summary: 'our API and worker beside running instances of Svix, Outpost and Convoy, from the call to the delivery',
  parts,
  perRound: null,
  options: serviceOptions,

  async run({ quick, only, values, progress }) {
    const others = connectServices(values, process.env);
    if (others.length === 0) progress(`Without the URL of another service, only ${ours} runs.`);
    const plan = quick ? short : full;
    const selected = partNames().filter((name) => only === undefined || only === name);
    const measured = await measure(others, selected, plan, progress);
    const report: ServicesReport = {
      bench: 'services',
      quick,
      machine: describeMachine(),
      connections,
      rounds: plan.rounds,
      hangingEndpoints: plan.hangingTenants * endpointsPerEvent,
      services: measured,
    };
    return { json: report, markdown: servicesMarkdown(report) };
  },
};

function partNames(): PartName[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
  return Object.keys(parts) as PartName[];
}

function measure(
  others: readonly Service[],
  selected: readonly PartName[],
  plan: Plan,
  progress: (line: string) => void,
): Promise<ServiceResult[]> {
  return withStack({ receivers: endpointsPerEvent }, async (stack, defer) => {
    const { receiver } = stack;
    const run = `bench-${Date.now().toString(36)}`;
    const createTenant = async (service: Service, name: string, urls: readonly string[]): Promise<Tenant> => {
      const tenant = await service.createTenant(`${run}-${name}`, urls);
      defer(() => tenant.remove());
      return tenant;
    };
    const urls = receiver.origins.map((origin, index) => `${origin}/event/${index}`);
    for (const service of others) {
      progress(`Checking ${service.name}`);
      await check(service, await createTenant(service, 'check', urls.slice(0, 1)), receiver);
    }
    progress(`Starting ${ours}`);
    const contestants: Contestant[] = [];
    for (const service of [...others, await startDeedwire(stack, defer)]) {
      const one = await createTenant(service, 'one', urls.slice(0, 1));
      contestants.push({ service, one, twenty: await createTenant(service, 'twenty', urls) });
    }
    const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
    defer(() => load.close());
    const servers = { receiver, load };
    const results = new Map<string, ServiceResult>(
      contestants.map(({ service: { name } }) => [name, { name, one: null, twenty: null, idle: null, hanging: null }]),
    );
    const record = (name: string, result: Partial<ServiceResult>): void => {
      const known = results.get(name);
      if (known !== undefined) Object.assign(known, result);
    };

    const events = new Map<RatePart, Map<Contestant, number>>();
    const warmUp = async (part: RatePart): Promise<Map<Contestant, number>> => {
      const known = events.get(part) ?? (await warmUpAll(contestants, part, servers, plan, progress));
      events.set(part, known);
      return known;
    };

    for (const part of selected) {
      const report = (line: string): void => progress(`${part}: ${line}`);
      if (part === 'one' || part === 'twenty') {
        const rounds = await measureRates(await warmUp(part), part, servers, plan, report);
        const reference = rounds.get(ours) ?? [];
        for (const [name, each] of rounds) record(name, { [part]: rateResult(each, reference) });
      } else if (part === 'idle') {
        await warmUp('one');
        const latencies = await measureIdle(contestants, receiver, plan, report);
        for (const [name, each] of latencies) record(name, { idle: latencyResult(each, arrivalTimeoutMs) });
      } else {
        await warmUp('one');
        const hanging = await startReceiverChild(plan.hangingTenants * endpointsPerEvent);
        defer(() => hanging.close());
        for (const contestant of contestants) {
          report(contestant.service.name);
          const latencies = await measureBesideHanging(contestant, hanging.origins, receiver, plan, run);
          record(contestant.service.name, { hanging: latencyResult(latencies, arrivalTimeoutMs) });
        }
      }
    }
    return [...results.values()];
  });
}

/** @throws {BenchProblem} if the service does not deliver an event to our receiver */
async function check(service: Service, tenant: Tenant, receiver: ReceiverChild): Promise<void> {
  await service.cpuMs();
  const [latencyMs = Number.POSITIVE_INFINITY] = await measureLatencies(
    tenant,
    { events: 1, timeoutMs: checkTimeoutMs },
    receiver,
  );
  if (!Number.isFinite(latencyMs))
    throw new BenchProblem(
      `${service.name} accepts an event but does not deliver it to ${receiver.origins[0] ?? ''} within ${checkTimeoutMs / 1000} s. Does it run on this host, and may it send to 127.0.0.1?`,
    );
}

function send(contestant: Contestant, part: RatePart, events: number, servers: Servers): Promise<EventsRound> {
  const endpoints = part === 'one' ? 1 : endpointsPerEvent;
  return sendEvents(contestant.service, contestant[part], { endpoints, events }, servers);
}

/** Returns the events of a round of each service. */
async function warmUpAll(
  contestants: readonly Contestant[],
  part: RatePart,
  servers: Servers,
  { roundMs, warmUpMs }: Plan,
  progress: (line: string) => void,
): Promise<Map<Contestant, number>> {
  const events = new Map<Contestant, number>();
  for (const contestant of contestants) {
    progress(`${part}: warm-up: ${contestant.service.name}`);
    const count = await eventsPerRound((each) => send(contestant, part, each, servers), { leastMs: warmUpMs, roundMs });
    events.set(contestant, count);
  }
  return events;
}

/**
 * The services take turns in each round, which starts with another one.
 *
 * @param events of a round of each service
 * @returns the rounds of each service
 */
async function measureRates(
  events: ReadonlyMap<Contestant, number>,
  part: RatePart,
  servers: Servers,
  { rounds }: Plan,
  progress: (line: string) => void,
): Promise<Map<string, EventsRound[]>> {
  const contestants = [...events];
  const measured = new Map<string, EventsRound[]>(contestants.map(([{ service }]) => [service.name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contestants.length; turn += 1) {
      const [contestant, count] = contestants[(round + turn) % contestants.length] ?? [];
      if (contestant === undefined || count === undefined) continue;
      const measurement = await send(contestant, part, count, servers);
      measured.get(contestant.service.name)?.push(measurement);
      const rate = Math.round((measurement.deliveries / measurement.elapsedMs) * 1000).toLocaleString('en-US');
      progress(`round ${round + 1} of ${rounds}: ${contestant.service.name} ${rate}/s`);
    }
  }
  return measured;
}

/** The latencies of each service in all rounds. */
async function measureIdle(
  contestants: readonly Contestant[],
  receiver: ReceiverChild,
  { rounds, pacedEvents }: Plan,
  progress: (line: string) => void,
): Promise<Map<string, number[]>> {
  const latencies = new Map<string, number[]>(contestants.map(({ service }) => [service.name, []]));
  const paced = { events: pacedEvents, timeoutMs: arrivalTimeoutMs };
  for (let round = 0; round < rounds; round += 1) {
    for (const { service, one } of contestants) {
      progress(`round ${round + 1} of ${rounds}: ${service.name}`);
      latencies.get(service.name)?.push(...(await measureLatencies(one, paced, receiver)));
    }
  }
  return latencies;
}

async function measureBesideHanging(
  { service, one }: Contestant,
  origins: readonly string[],
  receiver: ReceiverChild,
  { hangingTenants, pacedEvents }: Plan,
  run: string,
): Promise<number[]> {
  const tenants: Tenant[] = [];
  for (let tenant = 0; tenant < hangingTenants; tenant += 1) {
    const own = origins.slice(tenant * endpointsPerEvent, (tenant + 1) * endpointsPerEvent);
    tenants.push(
      await service.createTenant(
        `${run}-hanging-${tenant}`,
        own.map((origin) => `${origin}/hang`),
      ),
    );
  }
  try {
    for (const { event } of tenants) {
      const pool = new Pool(event.origin);
      for (let index = 0; index < eventsPerHangingTenant; index += 1) await sendEvent(pool, event, `hanging-${index}`);
      await pool.close();
    }
    return await measureLatencies(one, { events: pacedEvents, timeoutMs: arrivalTimeoutMs }, receiver);
  } finally {
    for (const tenant of tenants) await tenant.remove();
  }
}
