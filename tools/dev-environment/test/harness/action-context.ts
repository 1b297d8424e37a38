import { systemRandom, type OperatorContext, type WebhookActionContext } from '@deedwire/actions';
import type { Service } from '@deedwire/core';
import { createSecretKeyRing, createStore, type GroupRole } from '@deedwire/store';
import { patientTimeouts } from '@deedwire/testing';
import { createWebhookSender } from '@deedwire/webhook-sender';

/** Creates the context in which an app calls actions, with a login of the app's role. */
export function openActionContext(
  service: Service,
  role: GroupRole,
  databaseUrl: string,
  secretKeys: Map<string, Buffer>,
  openStore = createStore,
): WebhookActionContext & OperatorContext & { close(): Promise<void> } {
  const applicationName = `test-${role}`;
  const store = openStore({ databaseUrl, tables: service.tables, applicationName, timeouts: patientTimeouts });
  const sender = createWebhookSender({
    policy: 'development',
    headerPrefix: service.names.headerPrefix,
    userAgent: 'Deedwire-Webhooks/test',
  });
  return {
    store,
    service,
    gidNamespace: 'service',
    now: () => new Date(),
    random: systemRandom,
    sender,
    reportHostProblem: () => {},
    secretKeys: createSecretKeyRing(secretKeys),
    operator: { name: 'test', host: 'localhost', requestId: 'test' },
    async close() {
      await sender.close();
      await store.close();
    },
  };
}
