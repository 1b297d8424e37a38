/** Limits of a server, in milliseconds, bytes and connections. */
export interface HttpLimits {
  /** From the connection, or from the first byte on a kept-alive connection, until the headers are complete. */
  headersTimeout: number;
  /** Until the whole request is complete. The handler limits the body to less and responds with a better error. */
  requestTimeout: number;
  /** How often Node checks the two timeouts above. */
  connectionsCheckingInterval: number;
  /** How long an idle connection stays open after a response. */
  keepAliveTimeout: number;
  /** The request line and all headers. */
  maxHeaderSize: number;
  /** Without traffic in either direction. This also ends clients that do not read their response. */
  socketTimeout: number;
  /** The response to the last one closes the connection, so that long-lived clients spread over new instances. */
  requestsPerConnection: number;
  /** All open connections. For the next one, an idle one is closed. */
  connections: number;
  /** Open connections of one address that have not sent valid credentials. Trusted proxies have no such limit. */
  connectionsPerAddress: number;
  /** Open connections of one client. Connections of trusted proxies do not count. */
  connectionsPerClient: number;
  /**
   * How long a request on a connection beyond `connectionsPerClient` waits for its refusal. Until then the connection counts for
   * its address, so that a client that opens one after the other is limited to `connectionsPerAddress` in this time.
   */
  clientRefusalDelay: number;
  /** Requests of a connection that are handled at the same time as long as none of them had valid credentials. */
  requestsBeforeKey: number;
  /** Requests of a connection that are handled at the same time once one of them had valid credentials. */
  requestsWithKey: number;
}

export const httpLimits: HttpLimits = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1000,
  // Longer than the 60 s of common load balancers. Otherwise they reuse connections that the server is closing. `headersTimeout` does
  // not end a wait between requests, so it can be shorter.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  socketTimeout: 30_000,
  requestsPerConnection: 10_000,
  connections: 10_000,
  connectionsPerAddress: 100,
  connectionsPerClient: 200,
  clientRefusalDelay: 1000,
  requestsBeforeKey: 8,
  // Enough for a client that sends requests without waiting for responses, and a bound on what they keep in memory.
  requestsWithKey: 64,
};
