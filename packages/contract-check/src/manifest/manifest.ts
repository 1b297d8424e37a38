/** The part of a contract that a schema does not show. `manifest.schema.json` says the same for any tool. */
export interface Manifest {
  readonly description?: string;
  /** Error code → how it is told. */
  readonly errors?: Readonly<Record<string, ManifestError>>;
  readonly requestHeaders?: Readonly<Record<string, RequestHeader>>;
  readonly responseHeaders?: Readonly<Record<string, ResponseHeader>>;
  /** Name, with its unit → limit. */
  readonly limits?: Readonly<Record<string, number | Limit>>;
  readonly pagination?: Readonly<Record<string, number | Limit>>;
  /** Schema coordinate → points. */
  readonly costWeights?: Readonly<Record<string, number>>;
}

export interface ManifestError {
  readonly description?: string;
  /** Media type of the answer → HTTP status. */
  readonly status: Readonly<Record<string, number>>;
}

export interface RequestHeader {
  readonly description?: string;
  readonly required: boolean;
}

export interface ResponseHeader {
  readonly description?: string;
  /** `always`, HTTP statuses, or another word for when. */
  readonly sent: string | readonly number[];
  readonly value?: string;
}

export interface Limit {
  readonly description?: string;
  readonly value: number;
  /** What clients may send or ask for (`input`, the default), or what they are sent. */
  readonly bounds?: 'input' | 'output';
  /** `false`: promised, and not held against clients yet. */
  readonly enforced?: boolean;
  /** The schema coordinate that the limit came with. */
  readonly introducedWith?: string;
}
