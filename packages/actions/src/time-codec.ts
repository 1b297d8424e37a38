import { z } from 'zod';

/** A time as RFC 3339 text in UTC, and as a `Date`. */
export const timeCodec = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (time) => time.toISOString(),
});
