import { defineVersion, idempotencyErrorCodes, inputError } from '../src/version.ts';

// The compiler checks this file. Nothing runs it.

interface Visit {
  id: string;
  startsAt: Date;
  note: string | null;
}

interface VisitConnection {
  edges: { cursor: string; node: Visit }[];
  nodes: Visit[];
}

/** As `deedwire generate` writes them. */
interface Types {
  Objects: { Visit: Visit };
  Inputs: { BookVisitInput: { startsAt: Date; idempotencyKey?: string | null | undefined } };
  Query: { visits: Visit[]; visitsByPage: VisitConnection };
  Mutation: {
    bookVisit: {
      visit: Visit | null;
      userErrors: {
        code: 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_INVALID' | 'IDEMPOTENCY_KEY_REUSED' | 'STARTS_AT_INVALID';
      }[];
    };
  };
}

void defineVersion<Types>(({ builder, query, connection, change }) => {
  const VisitType = builder.objectType('Visit', {
    fields: (t) => ({
      id: t.exposeID('id'),
      startsAt: t.expose('startsAt', { type: 'DateTime' }),
      // @ts-expect-error -- the SDL has no such field
      endsAt: t.expose('endsAt', { type: 'DateTime' }),
      // @ts-expect-error -- it can be null
      note: t.exposeString('note'),
    }),
  });

  query('visits', (t) =>
    t.field({
      type: [VisitType],
      resolve: (_, _args, { caller, sql }) => sql<Visit>`select * from visit where account_id = ${caller.accountId}`,
    }),
  );
  query('visits', (t) =>
    t.field({
      type: [VisitType],
      // @ts-expect-error -- a value lacks a field of the SDL
      resolve: () => [{ id: '1', note: null }],
    }),
  );
  // @ts-expect-error -- the SDL has no such field
  query('appointments', (t) => t.field({ type: [VisitType], resolve: () => [] }));
  // @ts-expect-error -- the field has another type
  query('visits', (t) => t.field({ type: VisitType, resolve: () => ({ id: '1', startsAt: new Date(), note: null }) }));

  connection('visitsByPage', {
    type: VisitType,
    args: (t) => ({ note: t.string(), from: t({ type: 'DateTime', required: true }) }),
    rows: ({ after, limit }, { caller, sql }, { note, from }) => sql<{ id: string; startsAt: Date }>`
      select id, starts_at as "startsAt" from visit
      where account_id = ${caller.accountId} and (${note ?? null} is null or note = ${note ?? null}) and starts_at > ${from}
        and (${after}::bigint is null or id > ${after}) order by id limit ${limit}`,
    node: ({ id, startsAt }, { gid }) => ({ id: gid('Visit', id), startsAt, note: null }),
  });
  connection('visitsByPage', {
    type: VisitType,
    rows: async (_, { account }) => [{ id: (await account()).externalId ?? '' }],
    // @ts-expect-error -- a node lacks fields of the SDL
    node: ({ id }) => ({ id }),
  });
  // @ts-expect-error -- the SDL has a list that is no connection
  connection('visits', { type: VisitType, rows: async () => [], node: (row) => row });

  const bookVisit = {
    codes: [...idempotencyErrorCodes, 'STARTS_AT_INVALID'],
    action: 'visit.book',
  } as const;
  change('bookVisit', {
    ...bookVisit,
    input: (t) => ({ startsAt: t.field({ type: 'DateTime', required: true }), idempotencyKey: t.string() }),
    payload: (t) => ({ visit: t.expose('visit', { type: VisitType, nullable: true }) }),
    async run({ startsAt }, { refuse }) {
      if (startsAt < new Date()) return refuse(inputError('STARTS_AT_INVALID', 'startsAt', 'It has passed.'));
      // @ts-expect-error -- the SDL has no such code
      if (startsAt < new Date()) return refuse(inputError('NOTE_INVALID', 'note', 'It is blank.'));
      return { visit: { id: '1', startsAt, note: null } };
    },
  });
  change('bookVisit', {
    ...bookVisit,
    // @ts-expect-error -- the SDL has no such input
    codes: ['NOTE_INVALID'],
    // @ts-expect-error -- the input lacks a field
    input: (t) => ({ idempotencyKey: t.string() }),
    // @ts-expect-error -- it can be null
    payload: (t) => ({ visit: t.expose('visit', { type: VisitType }) }),
    // @ts-expect-error -- the visit lacks a field
    run: async ({ startsAt }) => ({ visit: { id: '1', startsAt } }),
  });
});
