// For the compiler only: no value has this property.
declare const workerId: unique symbol;

/** The id of a row of webhook_worker: `bigint` in decimal. A worker that was declared dead registers under a new id. */
export type WorkerId = string & { readonly [workerId]: true };
