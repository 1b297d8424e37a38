import type { LoadRequest } from '../graphql/load-protocol.ts';

/** A request that sends one event. `{n}` in its body is the name of the event after `bench-`. */
export type EventRequest = Pick<LoadRequest, 'origin' | 'path' | 'headers' | 'body' | 'status' | 'leastBytes'>;

/** One customer of a service, with its endpoints. */
export interface Tenant {
  /** Sends an event to all endpoints of the tenant. */
  readonly event: EventRequest;
  /** Removes the tenant and its endpoints. */
  remove(): Promise<void>;
}

/** A running webhook service. */
export interface Service {
  readonly name: string;
  /**
   * @param name of letters, digits and hyphens, which no other tenant has
   * @param urls one endpoint each
   * @throws {BenchProblem} if the service cannot be reached, or responds otherwise than the adapter expects
   */
  createTenant(name: string, urls: readonly string[]): Promise<Tenant>;
  /** The CPU time of all its processes. Null if it is not known. */
  cpuMs: () => Promise<number | null>;
}
