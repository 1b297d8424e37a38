import { identifierOf } from '../event-versions.ts';
import { banner, literalOf } from '../generated.ts';
import type { EventType, EventVersion } from './event-types.ts';

/** The source of `src/generated/registry.ts` in `webhook-events`. */
export function registrySource(eventTypes: readonly EventType[]): string {
  return `${banner}
import type { RegisteredEventType } from '../event-type.ts';

/** Every event type, ordered by name. */
export const webhookEventTypes: readonly RegisteredEventType[] = [
${eventTypes.map(registryEntry).join('')}];
`;
}

function registryEntry({ type, description, interfaces, versions }: EventType): string {
  return `  {
    type: ${literalOf(type)},
    description: ${literalOf(description)},
    interfaces: ${literalOf(interfaces)},
    versions: [
${versions.map(versionEntry).join('')}    ],
  },
`;
}

function versionEntry({ version, status, deprecatedOn, sunsetOn }: EventVersion): string {
  return `      ${literalOf({ version, status, deprecatedOn, sunsetOn })},\n`;
}

/** The source of `src/generated/schemas.ts` in `webhook-events`. */
export function schemasSource(eventTypes: readonly EventType[]): string {
  const entries = eventTypes.flatMap(({ type, versions }) =>
    versions.map(({ version }) => `  [${literalOf(`${type}/${version}`)}, ${identifierOf(type, version)}],\n`),
  );
  return `${banner}
import type { BodySchema } from '../event-type.ts';
${importsOf(eventTypes, 'import', '..')}
/** \`<type>/<version>\` → the schema of the whole body. */
export const bodySchemas: ReadonlyMap<string, BodySchema> = new Map<string, BodySchema>([
${entries.join('')}]);
`;
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
