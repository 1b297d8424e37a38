/** The part of a contract that a schema does not show. `manifest.schema.json` is the JSON Schema of this type. */
export interface Manifest {
  readonly description?: string;
  /** By error code. */
  readonly errors?: Readonly<Record<string, ManifestError>>;
  readonly requestHeaders?: Readonly<Record<string, RequestHeader>>;
  readonly responseHeaders?: Readonly<Record<string, ResponseHeader>>;
  /** By name. The name includes the unit. */
  readonly limits?: Readonly<Record<string, number | Limit>>;
  readonly pagination?: Readonly<Record<string, number | Limit>>;
  /** By schema coordinate, in points. */
  readonly costWeights?: Readonly<Record<string, number>>;
  /** By schema coordinate: the number of items by which the cost of a list is multiplied. */
  readonly costListSizes?: Readonly<Record<string, number>>;
  /** By schema coordinate: the most points that all values of a field cost together in a page. */
  readonly costPageMaximums?: Readonly<Record<string, number>>;
}

export interface ManifestError {
  readonly description?: string;
  /** HTTP status by media type of the response. */
  readonly status: Readonly<Record<string, number>>;
}

export interface RequestHeader {
  readonly description?: string;
  readonly required: boolean;
}

export interface ResponseHeader {
  readonly description?: string;
  /** `always`, the HTTP statuses of the responses that carry the header, or a name for the condition. */
  readonly sent: string | readonly number[];
  /** Set if the header always has this value. */
  readonly value?: string;
}

export interface Limit {
  readonly description?: string;
  readonly value: number;
  /** `input`: bounds what clients may send or request. `output`: bounds what clients receive. Defaults to `input`. */
  readonly bounds?: 'input' | 'output';
  /** False if the limit is published but requests beyond it are not yet rejected. Defaults to true. */
  readonly enforced?: boolean;
  /** The schema coordinate that was added together with the limit. */
  readonly introducedWith?: string;
}
