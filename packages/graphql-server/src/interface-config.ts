import { appConfig, clientServerConfig, wholeNumberVariable } from '@deedwire/service-runtime';
import { z } from 'zod';

const headerFields = z.record(z.string(), z.string());

/** The environment variables of the app of an interface. */
export const interfaceConfig = (defaults: { port: number; adminPort: number }) =>
  appConfig(defaults).safeExtend({
    ...clientServerConfig,
    PORT: clientServerConfig.PORT.default(defaults.port),
    /** How long a request waits for the database, in milliseconds, until its response is 503. */
    DATABASE_TIMEOUT_MS: wholeNumberVariable({ min: 500, max: 60_000 }).default(2_500),
    /** A JSON object with the header fields that GraphiQL fills in. GraphiQL is served if NODE_ENV is `development`. */
    GRAPHIQL_HEADERS: z
      .string()
      .default('{}')
      .transform((text, context) => {
        const fields = headerFields.safeParse(parseJson(text));
        if (fields.success) return fields.data;
        context.addIssue('must be a JSON object whose values are strings');
        return z.NEVER;
      }),
  });

export type InterfaceConfig = z.output<ReturnType<typeof interfaceConfig>>;

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
