import {
  deprecationDocumentationAt,
  deprecationHeaders,
  type Event,
  type EventVersion,
  readDeprecation,
} from '@deedwire/core';

/** The part of the events of a service that announces deprecations. */
export type EventTypeLifecycles = readonly (Pick<Event, 'type'> & {
  readonly versions: readonly Pick<EventVersion, 'version' | 'deprecatedOn' | 'sunsetOn'>[];
})[];

/** Returns the headers that announce the end of an event version. Undefined unless the version is deprecated or retired. */
export type DeprecationHeaders = (type: string, version: string) => Readonly<Record<string, string>> | undefined;

/** @param documentationUrl the URL where the folder `docs` is published, without a trailing slash. Without it, there are no links. */
export function createDeprecationHeaders(
  eventTypes: EventTypeLifecycles,
  documentationUrl: string | undefined,
): DeprecationHeaders {
  const documentation = deprecationDocumentationAt(documentationUrl);
  const headers = new Map<string, Map<string, Readonly<Record<string, string>>>>();
  for (const { type, versions } of eventTypes) {
    const deprecated = versions.flatMap(({ version, ...days }) => {
      const deprecation = readDeprecation(days);
      return deprecation === null ? [] : [[version, deprecationHeaders(deprecation, documentation)] as const];
    });
    if (deprecated.length > 0) headers.set(type, new Map(deprecated));
  }
  return (type, version) => headers.get(type)?.get(version);
}
