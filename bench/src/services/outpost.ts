import { BenchProblem } from '../bench.ts';
import { eventPayload } from './event.ts';
import { serviceApi, type ServiceApiOptions } from './service-api.ts';
import type { Service } from './service.ts';

/** An endpoint is a destination. */
export function outpost(options: ServiceApiOptions, cpuMs: Service['cpuMs']): Service {
  const api = serviceApi(options);
  return {
    name: 'outpost',
    cpuMs,
    async createTenant(name, urls) {
      const topics = await api.call('GET', '/api/v1/topics', { status: 200 });
      const isOpen = topics === null || (Array.isArray(topics) && topics.length === 0);
      if (!isOpen && !(Array.isArray(topics) && topics.includes(eventPayload.type)))
        throw new BenchProblem(
          `Outpost must have the topic ${eventPayload.type} in TOPICS. It has: ${JSON.stringify(topics)}`,
        );
      const path = `/api/v1/tenants/${name}`;
      await api.call('PUT', path, { status: 201 });
      for (const url of urls) {
        const body = { type: 'webhook', topics: ['*'], config: { url } };
        await api.call('POST', `${path}/destinations`, { body, status: 201 });
      }
      return {
        event: {
          origin: api.origin,
          path: '/api/v1/publish',
          headers: [api.headers],
          body: JSON.stringify({ tenant_id: name, topic: eventPayload.type, data: eventPayload }),
          status: 202,
          leastBytes: 1,
        },
        async remove() {
          await api.call('DELETE', path, { status: 200 });
        },
      };
    },
  };
}
