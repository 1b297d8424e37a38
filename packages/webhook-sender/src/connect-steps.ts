import { hostAddress } from './host-address.ts';

/** How long the steps to a new connection took, in milliseconds. Each is null until it is completed. */
export class ConnectSteps {
  #lastMs = performance.now();
  /** Null for an address in the URL. */
  readonly dnsMs: number | null;
  connectMs: number | null = null;
  tlsMs: number | null = null;
  /** The address that was tried last. */
  address: string | null = null;

  /**
   * Call it when the addresses of the URL are known, and not if there are none: the time of a failure would tell more than the
   * error.
   *
   * @param startMs when the lookup started, in `performance.now()`
   */
  constructor(url: URL, startMs: number) {
    this.dnsMs = hostAddress(url) === null ? this.#lastMs - startMs : null;
  }

  connected(): void {
    this.connectMs = this.#next();
  }

  secured(): void {
    this.tlsMs = this.#next();
  }

  #next(): number {
    const [lastMs, nowMs] = [this.#lastMs, performance.now()];
    this.#lastMs = nowMs;
    return nowMs - lastMs;
  }
}
