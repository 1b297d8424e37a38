/** The limit of the body of a delivery. It is published: receivers may reject larger bodies. */
export const payloadMaxBytes = 256_000;
