import { identifierOf } from '../event-versions.ts';
import { banner, literalOf } from '../generated.ts';
import type { EventType, EventVersion } from './event-types.ts';

/** The source of `src/generated/event-types.ts` in `webhook-events`. */
export function eventListSource(eventTypes: readonly EventType[]): string {
  return `${banner}
import { eventVersion, type WebhookEventType } from '../event-type.ts';
${importsOf(eventTypes, 'import', '..')}
/** Every event type, ordered by name. */
export const webhookEventTypes: readonly WebhookEventType[] = [
${eventTypes.map(entry).join('')}];
`;
}

function entry({ type, description, interfaces, versions }: EventType): string {
  return `  {
    type: ${literalOf(type)},
    description: ${literalOf(description)},
    interfaces: ${literalOf(interfaces)},
    versions: [
${versions.map((version) => versionEntry(type, version)).join('')}    ],
  },
`;
}

function versionEntry(type: string, { version, status, deprecatedOn, sunsetOn }: EventVersion): string {
  const lifecycle = literalOf({ version, status, deprecatedOn, sunsetOn });
  return `      eventVersion(${lifecycle}, ${identifierOf(type, version)}),\n`;
}

/** The source of `test/generated/schema-output.ts` in `webhook-events`, which a test compares with `WebhookEvent`. */
export function schemaOutputSource(eventTypes: readonly EventType[]): string {
  const parsed = eventTypes.map(({ versions, ...eventType }) => ({
    ...eventType,
    versions: versions.filter(({ status }) => status !== 'retired'),
  }));
  const bodies = parsed.flatMap(({ type, versions }) =>
    versions.map(({ version }) => `  | typeof ${identifierOf(type, version)}\n`),
  );
  return `${banner}
import type { z } from 'zod';
${importsOf(parsed, 'import type', '../../src')}
/** What the schemas return of the payloads that the parser knows. */
export type SchemaOutput = z.infer<
${bodies.join('')}>;
`;
}

function importsOf(eventTypes: readonly EventType[], keyword: string, folder: string): string {
  return eventTypes
    .flatMap(({ type, versions }) =>
      versions.map(
        ({ version }) =>
          `${keyword} { body as ${identifierOf(type, version)} } from '${folder}/${type}/${version}.ts';\n`,
      ),
    )
    .join('');
}
