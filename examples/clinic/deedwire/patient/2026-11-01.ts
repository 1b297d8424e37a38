import { defineVersion, idempotencyErrorCodes, inputError } from '@deedwire/service/version';
import { appointmentBooked } from '../service.ts';
import type { Types } from './generated/2026-11-01.ts';

export const version = defineVersion<Types>(({ builder, query, change }) => {
  const Appointment = builder.objectType('Appointment', {
    fields: (t) => ({
      id: t.exposeID('id'),
      startsAt: t.expose('startsAt', { type: 'DateTime' }),
      reason: t.exposeString('reason'),
    }),
  });

  query('appointments', (t) =>
    t.field({
      type: [Appointment],
      async resolve(_, _args, { caller, sql, gid }) {
        const rows = await sql<{ id: string; startsAt: Date; reason: string }>`
          select id, starts_at as "startsAt", reason
          from appointment
          where account_id = ${caller.accountId} and starts_at > now()
          order by starts_at
          limit 100`;
        return rows.map((row) => ({ ...row, id: gid('Appointment', row.id) }));
      },
    }),
  );

  change('bookAppointment', {
    action: 'appointment.book',
    codes: [...idempotencyErrorCodes, 'REASON_INVALID', 'STARTS_AT_INVALID', 'TIME_TAKEN'],
    input: (t) => ({
      startsAt: t.field({ type: 'DateTime', required: true }),
      reason: t.string({ required: true }),
      idempotencyKey: t.string(),
    }),
    payload: (t) => ({ appointment: t.expose('appointment', { type: Appointment, nullable: true }) }),
    async run({ startsAt, reason }, { caller, sql, gid, append, refuse }) {
      if (reason.trim() === '' || reason.length > 500)
        return refuse(inputError('REASON_INVALID', 'reason', 'The reason must have 1 to 500 characters.'));
      if (startsAt < new Date()) return refuse(inputError('STARTS_AT_INVALID', 'startsAt', 'This time has passed.'));
      const [row] = await sql<{ id: string }>`
        insert into appointment (account_id, starts_at, reason)
        values (${caller.accountId}, ${startsAt}, ${reason})
        on conflict (starts_at) do nothing
        returning id`;
      if (row === undefined) return refuse(inputError('TIME_TAKEN', 'startsAt', 'This time is taken.'));
      const appointment = { id: gid('Appointment', row.id), startsAt, reason };
      await append(appointmentBooked, { appointment: { ...appointment, startsAt: startsAt.toISOString() } });
      return { appointment };
    },
  });
});
