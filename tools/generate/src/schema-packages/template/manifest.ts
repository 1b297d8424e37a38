/**
 * The parts of a version that the SDL cannot express. Later releases add entries to each member; the README describes how to
 * read them.
 */
export interface Manifest {
  readonly $schema?: string;
  readonly description?: string;
  /** By error code. `status`: media type of the response → HTTP status of a response without `data`. */
  readonly errors: Readonly<
    Record<string, { readonly description?: string; readonly status: Readonly<Record<string, number>> }>
  >;
  /** By name. `required`: whether you must send the header. */
  readonly requestHeaders: Readonly<Record<string, { readonly description?: string; readonly required: boolean }>>;
  /** By name. */
  readonly responseHeaders: Readonly<Record<string, ManifestResponseHeader>>;
  /** By name, which contains the unit. */
  readonly limits: Readonly<Record<string, number | ManifestLimit>>;
  /** The minimum, default and maximum of the argument `first`. */
  readonly pagination: Readonly<Record<string, number | ManifestLimit>>;
  /** By schema coordinate: what an API key or a session of the portal must have to use the field. */
  readonly abilities?: Readonly<Record<string, readonly string[]>>;
  /** Points by schema coordinate, for each value that the field returns. */
  readonly costWeights?: Readonly<Record<string, number>>;
  /** By schema coordinate: the largest number of items of a list. */
  readonly costListSizes?: Readonly<Record<string, number>>;
  /** By schema coordinate: the most points that all values of a field cost together in a page, whatever their number. */
  readonly costPageMaximums?: Readonly<Record<string, number>>;
}

export interface ManifestResponseHeader {
  readonly description?: string;
  /** `always`, the HTTP statuses of the responses that carry the header, or a name for the condition. */
  readonly sent: string | readonly number[];
  /** The value, if it is always the same. */
  readonly value?: string;
}

export interface ManifestLimit {
  readonly description?: string;
  readonly value: number;
  /** `input`: bounds what you may send or request. `output`: bounds what you receive. The default is `input`. */
  readonly bounds?: string;
  /** False if the limit is announced but not enforced yet. The default is true. */
  readonly enforced?: boolean;
  /** The schema coordinate that was added together with the limit. */
  readonly introducedWith?: string;
}
