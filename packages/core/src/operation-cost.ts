/** The most cost points that an operation can cost. The manifests publish it, and a full bucket of a client holds at least as many. */
export const operationCostPoints = 1_000;
