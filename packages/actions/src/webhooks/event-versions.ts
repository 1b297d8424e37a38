import { webhookEventTypes, type WebhookEventVersion } from '@deedwire/webhook-events';

/** Whether a version has come to its end: nobody can choose it any more, and who still pins it is paused. */
export function isRetired(version: Pick<WebhookEventVersion, 'status' | 'sunsetOn'>, now: Date): boolean {
  const today = now.toISOString().slice(0, 'YYYY-MM-DD'.length);
  return version.status === 'retired' || (version.sunsetOn !== null && version.sunsetOn <= today);
}

/** Every version of every event type that has come to its end. */
export function retiredEventVersions(now: Date): { type: string; version: string }[] {
  return webhookEventTypes.flatMap(({ type, versions }) =>
    versions.filter((version) => isRetired(version, now)).map(({ version }) => ({ type, version })),
  );
}
