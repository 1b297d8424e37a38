import { eventPayload } from './event.ts';
import { serviceApi, stringAt, type ServiceApiOptions } from './service-api.ts';
import type { Service } from './service.ts';

/** A tenant is the owner of endpoints in a project. Each endpoint has a subscription. */
export function convoy(
  { projectId, ...options }: ServiceApiOptions & { projectId: string },
  cpuMs: Service['cpuMs'],
): Service {
  const api = serviceApi(options);
  const project = `/api/v1/projects/${encodeURIComponent(projectId)}`;
  return {
    name: 'convoy',
    cpuMs,
    async createTenant(owner, urls) {
      const endpoints: string[] = [];
      for (const [index, url] of urls.entries()) {
        const name = `${owner}-${index}`;
        const endpoint = await api.call('POST', `${project}/endpoints`, {
          // Without a limit of the rate.
          body: { name, url, owner_id: owner, rate_limit: 0, rate_limit_duration: 0 },
          status: 201,
        });
        const id = stringAt(endpoint, 'data.uid', 'The endpoint of Convoy');
        endpoints.push(id);
        await api.call('POST', `${project}/subscriptions`, { body: { name, endpoint_id: id }, status: 201 });
      }
      return {
        event: {
          origin: api.origin,
          path: `${project}/events/fanout`,
          headers: [api.headers],
          body: JSON.stringify({ owner_id: owner, event_type: eventPayload.type, data: eventPayload }),
          status: 201,
          leastBytes: 1,
        },
        async remove() {
          // Also removes their subscriptions.
          for (const id of endpoints) await api.call('DELETE', `${project}/endpoints/${id}`, { status: 200 });
        },
      };
    },
  };
}
