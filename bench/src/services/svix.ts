import { eventPayload } from './event.ts';
import { serviceApi, stringAt, type ServiceApiOptions } from './service-api.ts';
import type { Service } from './service.ts';

/** A tenant is an application. */
export function svix(options: ServiceApiOptions, cpuMs: Service['cpuMs']): Service {
  const api = serviceApi(options);
  return {
    name: 'svix',
    cpuMs,
    async createTenant(name, urls) {
      const application = await api.call('POST', '/api/v1/app', { body: { name }, status: 201 });
      const path = `/api/v1/app/${stringAt(application, 'id', 'The application of Svix')}`;
      for (const url of urls) await api.call('POST', `${path}/endpoint`, { body: { url }, status: 201 });
      return {
        event: {
          origin: api.origin,
          path: `${path}/msg`,
          headers: [api.headers],
          body: JSON.stringify({ eventType: eventPayload.type, payload: eventPayload }),
          status: 202,
          leastBytes: 1,
        },
        async remove() {
          await api.call('DELETE', path, { status: 204 });
        },
      };
    },
  };
}
