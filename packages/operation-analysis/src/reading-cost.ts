/** What it costs to read requests and documents. The contracts publish these numbers. */
export interface ReadingCostLimits {
  /** A request costs at least a point for as many bytes of its body. */
  requestBodyBytesPerPoint: number;
  /** A document that is read costs at least a point for as many bytes of `query`. */
  queryBytesPerPoint: number;
  /** A document that is read and rejected costs a point for as many bytes of `query`. */
  rejectedQueryBytesPerPoint: number;
  /** The least that a document costs that is read and rejected. */
  rejectedQueryMinimumPoints: number;
  /** The most that a request costs. */
  operationCostPoints: number;
}

/** The least that a request costs: whole points, at least 1. */
export function bodyCost(bytes: number, limits: ReadingCostLimits): number {
  return pointsFor(bytes, limits.requestBodyBytesPerPoint, 1, limits);
}

/** The points of reading a document that is not cached: whole, at least 1. An accepted operation costs at least as much. */
export function readingCost(bytes: number, limits: ReadingCostLimits): number {
  return pointsFor(bytes, limits.queryBytesPerPoint, 1, limits);
}

/** The points of a document that was read and is rejected. Includes `readingCost`. */
export function rejectionCost(bytes: number, limits: ReadingCostLimits): number {
  return pointsFor(bytes, limits.rejectedQueryBytesPerPoint, limits.rejectedQueryMinimumPoints, limits);
}

function pointsFor(bytes: number, bytesPerPoint: number, least: number, limits: ReadingCostLimits): number {
  return Math.min(limits.operationCostPoints, Math.max(least, Math.ceil(bytes / bytesPerPoint)));
}
