import { hash } from 'node:crypto';
import type { PortalAbility, PortalSession } from '@deedwire/actions';
import { type InterfaceName, interfaceNames } from '@deedwire/domain';
import { type GraphQLSchema, parse, TypeInfo, validate, visit, visitWithTypeInfo } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { z } from 'zod';
import { RequestError } from '../errors/request-error.ts';
import { parseMembers, readParameters } from '../transport/parameters.ts';

/** What a field needs besides `READ`. A mutation without an entry cannot be a part of the portal. */
export const abilityOfField: Readonly<Record<string, PortalAbility>> = {
  'CreateWebhookSubscriptionPayload.webhookSecret': 'READ_PAYLOAD',
  'RotateWebhookSecretPayload.webhookSecret': 'READ_PAYLOAD',
  'WebhookAttempt.exchange': 'READ_PAYLOAD',
  'WebhookDelivery.payload': 'READ_PAYLOAD',
  'WebhookDelivery.preview': 'READ_PAYLOAD',
  'WebhookEvent.payload': 'READ_PAYLOAD',
  'Mutation.cancelWebhookReplay': 'OPERATE',
  'Mutation.pauseWebhookSubscription': 'OPERATE',
  'Mutation.replayWebhookEvents': 'OPERATE',
  'Mutation.resumeWebhookSubscription': 'OPERATE',
  'Mutation.retryWebhookDelivery': 'OPERATE',
  'Mutation.sendPendingWebhookDeliveries': 'OPERATE',
  'Mutation.sendTestWebhookEvent': 'OPERATE',
  'Mutation.rotateWebhookSecret': 'CONFIGURE',
  'Mutation.updateWebhookSubscription': 'CONFIGURE',
};

const built = z.object({
  versions: z.record(z.enum(interfaceNames), z.string()),
  documents: z.record(z.string(), z.string()),
});

/** The operations of the pages. Sessions send no other ones. */
export interface PortalDocuments {
  /** The version of the interface for which the pages were built. */
  version: string;
  /**
   * Reads the parameters of a request, `{ "documentId", "variables" }`.
   *
   * @throws {RequestError} if there is no such document, or the session lacks an ability for it
   */
  parseParameters(body: string, session: PortalSession): GraphQLParams;
}

/**
 * Reads what the build of the pages wrote.
 *
 * @param schemaOf undefined for a version that is not served
 * @throws {Error} if a document does not match the served schema, or needs an ability that is not known
 */
export function readDocuments(
  json: string,
  interfaceName: InterfaceName,
  schemaOf: (version: string) => GraphQLSchema | undefined,
): PortalDocuments {
  const { versions, documents } = built.parse(JSON.parse(json));
  const version = versions[interfaceName];
  const schema = schemaOf(version);
  if (!schema) throw new Error(`The portal was built for version ${version} of the interface, which is not served.`);
  const known = new Map<unknown, { query: string; needs: readonly PortalAbility[] }>();
  for (const [id, query] of Object.entries(documents)) {
    if (hash('sha256', query) !== id) throw new Error(`The document ${id} of the portal has another hash.`);
    known.set(id, { query, needs: findAbilities(query, schema) });
  }

  return {
    version,
    parseParameters(body, session) {
      const { documentId, variables } = parseMembers(body, 'documentId');
      const document = known.get(documentId);
      if (!document) {
        const message = 'The portal has no document with this id. Reload the page.';
        throw new RequestError('NOT_FOUND', { message });
      }
      const missing = document.needs.filter((ability) => !session.abilities.includes(ability));
      if (missing.length > 0) {
        const message = `The session does not have the ability ${missing.join(', ')}. Open the portal with a link that has it.`;
        throw new RequestError('FORBIDDEN', { message });
      }
      return readParameters({ query: document.query, variables });
    },
  };
}

/** @throws {Error} if the document is invalid, or contains a mutation that is no part of the portal */
export function findAbilities(query: string, schema: GraphQLSchema): PortalAbility[] {
  const document = parse(query);
  const [error] = validate(schema, document);
  if (error) throw error;
  const found = new Set<PortalAbility>(['READ']);
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field({ name }) {
        const type = types.getParentType();
        const coordinate = `${type?.name}.${name.value}`;
        const ability = abilityOfField[coordinate];
        if (ability) found.add(ability);
        else if (type === schema.getMutationType())
          throw new Error(`The portal has no ability for ${coordinate}. Add it to abilityOfField.`);
      },
    }),
  );
  return [...found];
}
