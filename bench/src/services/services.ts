import { Pool } from 'undici';
import { type Bench, type BenchOptions, BenchProblem } from '../bench.ts';
import { besideOption, type Checkout, readCheckout, thisCheckout } from '../checkout/checkout.ts';
import { startDeedwire } from '../checkout/deedwire-service.ts';
import { startReceivers, type Receivers } from '../delivery/receivers.ts';
import { withServers } from '../delivery/stack.ts';
import { inGroups, ours } from '../delivery/workloads.ts';
import { startLoad } from '../graphql/load.ts';
import { describeMachine, wholeNumber } from '../report.ts';
import { interleaved, perSecond } from '../rounds.ts';
import { connectServices, serviceOptions } from './adapters.ts';
import { connections, eventsPerRound, measureLatencies, sendEvent, sendEvents } from './cases.ts';
import {
  type EventsRound,
  latencyResult,
  rateResult,
  servicesMarkdown,
  type ServicesReport,
  type ServicesResults,
} from './report.ts';
import type { Service, Tenant } from './service-api.ts';

type RatePart = 'one' | 'twenty';

const parts = {
  one: `from the call to the delivery, ${connections} connections, one endpoint`,
  twenty: 'the same with 20 endpoints per event',
  idle: 'the latency from the call to the arrival at one endpoint',
  hanging: 'the same beside 300 endpoints of other tenants that never respond',
} as const;

// `pacedEvents`: in each round of `idle`, and in `hanging`.
const full = { rounds: 3, roundMs: 6_000, warmUpMs: 2_000, pacedEvents: 200, hangingTenants: 15 };
const short: typeof full = { rounds: 1, roundMs: 300, warmUpMs: 100, pacedEvents: 10, hangingTenants: 1 };

const endpointsPerEvent = 20;
const eventsPerHangingTenant = 3;
const timeoutMs = 100_000;
const checkTimeoutMs = 30_000;

interface Contestant {
  name: string;
  service: Service;
  /** With one endpoint, and with twenty. */
  one: Tenant;
  twenty: Tenant;
}

export const services: Bench = {
  name: 'services',
  summary: 'our API and worker beside running instances of Svix, Outpost and Convoy, from the call to the delivery',
  parts,
  options: { ...serviceOptions, beside: besideOption },

  async run({ quick, only, values, progress }) {
    const others = connectServices(values, process.env);
    const { beside } = values;
    const checkouts = [...(beside === undefined ? [] : [readCheckout(beside)]), thisCheckout];
    if (others.length === 0) progress(`Without the URL of another service, only ${ours} runs.`);
    const plan = quick ? short : full;
    const report: ServicesReport = {
      bench: 'services',
      quick,
      machine: describeMachine(),
      connections,
      rounds: plan.rounds,
      hangingEndpoints: plan.hangingTenants * endpointsPerEvent,
      ...(await measure(others, checkouts, { only, plan, progress })),
    };
    return { json: report, markdown: servicesMarkdown(report) };
  },
};

function measure(
  others: readonly Service[],
  checkouts: readonly Checkout[],
  { only, plan, progress }: Pick<BenchOptions, 'only' | 'progress'> & { plan: typeof full },
): Promise<ServicesResults> {
  const { rounds, roundMs, warmUpMs, pacedEvents, hangingTenants } = plan;
  return withServers(endpointsPerEvent, async ({ postgres, receiver }, defer) => {
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
    const started = [...others];
    for (const [index, checkout] of checkouts.entries()) {
      progress(`Starting ${checkout.name}`);
      started.push(await startDeedwire(checkout, { postgres, database: `checkout_${index}`, defer }));
    }
    const contestants: Contestant[] = [];
    for (const service of started) {
      const one = await createTenant(service, 'one', urls.slice(0, 1));
      const twenty = await createTenant(service, 'twenty', urls);
      contestants.push({ name: service.name, service, one, twenty });
    }
    const load = await startLoad(defer);
    const results: ServicesResults = {};
    const ofLatencies = (measured: ReadonlyMap<string, readonly number[][]>) =>
      contestants.map(({ name }) => ({ name, ...latencyResult(measured.get(name)?.flat() ?? [], timeoutMs) }));
    const latencies = { events: pacedEvents, timeoutMs };

    const send = (contestant: Contestant, part: RatePart, count: number): Promise<EventsRound> => {
      const sent = { endpoints: part === 'one' ? 1 : endpointsPerEvent, events: count };
      return sendEvents(contestant.service, contestant[part], sent, { receiver, load });
    };
    /** Of a round of each service. */
    const events = { one: new Map<string, number>(), twenty: new Map<string, number>() };
    const warmUp = async (part: RatePart): Promise<void> => {
      for (const contestant of contestants) {
        if (events[part].has(contestant.name)) continue;
        progress(`${part}: warm-up: ${contestant.name}`);
        const bounds = { leastMs: warmUpMs, roundMs };
        events[part].set(contestant.name, await eventsPerRound((count) => send(contestant, part, count), bounds));
      }
    };

    for (const part of ['one', 'twenty'] as const) {
      if (only !== undefined && only !== part) continue;
      await warmUp(part);
      const measured = await interleaved(contestants, rounds, async (contestant, round) => {
        const measurement = await send(contestant, part, events[part].get(contestant.name) ?? 0);
        progress(`${part}: round ${round} of ${rounds}: ${contestant.name} ${wholeNumber(perSecond(measurement))}/s`);
        return measurement;
      });
      const roundsOf = (name: string) => measured.get(name) ?? [];
      results[part] = contestants.map(({ name }) => ({ name, ...rateResult(roundsOf(name), roundsOf(ours)) }));
    }
    if (only === undefined || only === 'idle') {
      await warmUp('one');
      const measured = await interleaved(contestants, rounds, ({ name, one }, round) => {
        progress(`idle: round ${round} of ${rounds}: ${name}`);
        return measureLatencies(one.event, latencies, receiver);
      });
      results.idle = ofLatencies(measured);
    }
    if (only === undefined || only === 'hanging') {
      await warmUp('one');
      const { origins } = await startReceivers(hangingTenants * endpointsPerEvent, defer);
      const endpoints = inGroups(
        origins.map((origin) => `${origin}/hang`),
        endpointsPerEvent,
      );
      const measured = await interleaved(contestants, 1, async ({ name, service, one }) => {
        progress(`hanging: ${name}`);
        const tenants: Tenant[] = [];
        try {
          for (const [index, each] of endpoints.entries())
            tenants.push(await service.createTenant(`${run}-hanging-${index}`, each));
          await sendToEach(tenants);
          return await measureLatencies(one.event, latencies, receiver);
        } finally {
          for (const tenant of tenants) await tenant.remove();
        }
      });
      results.hanging = ofLatencies(measured);
    }
    return results;
  });
}

/** @throws {BenchProblem} if the service does not deliver an event to our receiver */
async function check(service: Service, { event }: Tenant, receiver: Receivers): Promise<void> {
  await service.cpuMs();
  const [latencyMs = Infinity] = await measureLatencies(event, { events: 1, timeoutMs: checkTimeoutMs }, receiver);
  if (!Number.isFinite(latencyMs))
    throw new BenchProblem(
      `${service.name} accepts an event but does not deliver it to ${receiver.origins[0] ?? ''} within ${checkTimeoutMs / 1000} s. Does it run on this host, and may it send to 127.0.0.1?`,
    );
}

async function sendToEach(tenants: readonly Tenant[]): Promise<void> {
  for (const { event } of tenants) {
    const pool = new Pool(event.origin);
    for (let index = 0; index < eventsPerHangingTenant; index += 1) await sendEvent(pool, event, `hanging-${index}`);
    await pool.close();
  }
}
