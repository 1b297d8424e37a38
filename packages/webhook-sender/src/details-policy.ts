/** How much of a response body is kept at most, as received and not decompressed. */
export const keptBodyBytes = 16 * 1024;

/** Decides what is kept of one attempt. Each function is called while the attempt runs, so it must be quick. */
export interface DetailsPolicy {
  /**
   * Whether the details of the attempt are of interest if its response is completed. Those of an attempt without a complete
   * response always are.
   *
   * @param nowMs by `performance.now()`, as below
   */
  keeps(status: number, nowMs: number): boolean;
  /** Takes what the body needs at most from a budget. If it returns false, the body is not kept. */
  takeBytes(bytes: number, nowMs: number): boolean;
  /** Returns what the body did not need. Called once after `takeBytes` has returned true. */
  returnBytes(bytes: number): void;
}
