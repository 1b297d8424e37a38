import { BenchProblem, type BenchOption } from '../bench.ts';
import { processFamilyCpuMs } from '../process-cpu.ts';
import { type Service, type ServiceApi, serviceApi, stringAt } from './service-api.ts';

/** What all services send to an endpoint: the body of a `referral.created` webhook of ours. */
export const eventPayload = {
  id: 'gid://service/WebhookEvent/123456',
  type: 'referral.created',
  version: '2026-11-01',
  timestamp: '2026-11-03T09:30:00.123Z',
  data: { referralId: 'gid://service/Referral/4711', externalReference: 'bench-{n}' },
};

type CreateTenant = Service['createTenant'];

/** A tenant is an application. */
function svixTenants(api: ServiceApi): CreateTenant {
  return async (name, urls) => {
    const application = await api.call('POST', '/api/v1/app', 201, { name });
    const path = `/api/v1/app/${stringAt(application, 'id', 'The application of Svix')}`;
    for (const url of urls) await api.call('POST', `${path}/endpoint`, 201, { url });
    return {
      event: api.event(`${path}/msg`, 202, { eventType: eventPayload.type, payload: eventPayload }),
      remove: () => api.call('DELETE', path, 204),
    };
  };
}

/** An endpoint is a destination. */
function outpostTenants(api: ServiceApi): CreateTenant {
  return async (name, urls) => {
    const topics = await api.call('GET', '/api/v1/topics', 200);
    const isOpen = topics === null || (Array.isArray(topics) && topics.length === 0);
    if (!isOpen && !(Array.isArray(topics) && topics.includes(eventPayload.type)))
      throw new BenchProblem(
        `Outpost must have the topic ${eventPayload.type} in TOPICS. It has: ${JSON.stringify(topics)}`,
      );
    const path = `/api/v1/tenants/${name}`;
    await api.call('PUT', path, 201);
    for (const url of urls)
      await api.call('POST', `${path}/destinations`, 201, { type: 'webhook', topics: ['*'], config: { url } });
    const event = { tenant_id: name, topic: eventPayload.type, data: eventPayload };
    return { event: api.event('/api/v1/publish', 202, event), remove: () => api.call('DELETE', path, 200) };
  };
}

/** A tenant is the owner of endpoints in a project. Each endpoint has a subscription. */
function convoyTenants(api: ServiceApi, env: NodeJS.ProcessEnv): CreateTenant {
  const project = `/api/v1/projects/${encodeURIComponent(variable(env, projectVariable))}`;
  return async (owner, urls) => {
    const endpoints: string[] = [];
    for (const [index, url] of urls.entries()) {
      const name = `${owner}-${index}`;
      // Without a limit of the rate.
      const settings = { name, url, owner_id: owner, rate_limit: 0, rate_limit_duration: 0 };
      const endpoint = await api.call('POST', `${project}/endpoints`, 201, settings);
      const id = stringAt(endpoint, 'data.uid', 'The endpoint of Convoy');
      endpoints.push(id);
      await api.call('POST', `${project}/subscriptions`, 201, { name, endpoint_id: id });
    }
    const event = { owner_id: owner, event_type: eventPayload.type, data: eventPayload };
    return {
      event: api.event(`${project}/events/fanout`, 201, event),
      async remove() {
        // Also removes their subscriptions.
        for (const id of endpoints) await api.call('DELETE', `${project}/endpoints/${id}`, 200);
      },
    };
  };
}

interface Known {
  tokenVariable: string;
  tenants: (api: ServiceApi, env: NodeJS.ProcessEnv) => CreateTenant;
}

const projectVariable = 'CONVOY_PROJECT_ID';

const known: Readonly<Record<string, Known>> = {
  svix: { tokenVariable: 'SVIX_TOKEN', tenants: svixTenants },
  outpost: { tokenVariable: 'OUTPOST_API_KEY', tenants: outpostTenants },
  convoy: { tokenVariable: 'CONVOY_API_KEY', tenants: convoyTenants },
};

export const serviceOptions: Readonly<Record<string, BenchOption>> = Object.fromEntries(
  Object.entries(known).flatMap(([name, { tokenVariable }]): [string, BenchOption][] => {
    const variables = name === 'convoy' ? `${tokenVariable} and ${projectVariable}` : tokenVariable;
    return [
      [name, { value: 'URL', summary: `a running ${name}; its token in ${variables}` }],
      [`${name}-pids`, { value: 'numbers', summary: 'its processes, for their CPU time, with its stores: 123,456' }],
    ];
  }),
);

/**
 * The services that the command line names.
 *
 * @param values of `serviceOptions`
 * @throws {BenchProblem} for an invalid URL, a missing token or a process that does not exist
 */
export function connectServices(values: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv): Service[] {
  return Object.entries(known).flatMap(([name, { tokenVariable, tenants }]) => {
    const [url, pids] = [values[name], values[`${name}-pids`]];
    if (url === undefined) {
      if (pids !== undefined) throw new BenchProblem(`--${name}-pids needs --${name} <URL>.`);
      return [];
    }
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw new BenchProblem(`--${name} must be a URL such as http://127.0.0.1:8080, not "${url}".`);
    const api = serviceApi({ name, url, token: variable(env, tokenVariable), tokenVariable });
    return [{ name, cpuMs: cpuOf(`--${name}-pids`, pids), createTenant: tenants(api, env) }];
  });
}

function variable(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new BenchProblem(`The environment variable ${name} must be set.`);
  return value;
}

/** The CPU time of processes and of their children. */
function cpuOf(option: string, pids: string | undefined): Service['cpuMs'] {
  if (pids === undefined) return async () => null;
  if (!/^\d+(,\d+)*$/.test(pids)) throw new BenchProblem(`${option} must be numbers such as 123,456, not "${pids}".`);
  const numbers = pids.split(',').map(Number);
  const read = (): number =>
    numbers.reduce((sum, pid) => {
      const cpuMs = processFamilyCpuMs(pid);
      if (cpuMs === null) throw new BenchProblem(`There is no process "${pid}", which ${option} names.`);
      return sum + cpuMs;
    }, 0);
  read();
  return async () => read();
}
