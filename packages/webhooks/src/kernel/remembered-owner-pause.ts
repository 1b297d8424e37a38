/**
 * Part of an update of `webhook_subscription s` that pauses it for a reason stronger than `OWNER`: a pause by the owner is
 * resumed by the owner only. Of an active subscription, an API of an earlier release can have left the time of an earlier pause.
 */
export const rememberedOwnerPause = `owner_paused_at = case
            when s.paused_reason = 'OWNER' then coalesce(s.owner_paused_at, s.paused_at)
            when s.paused_reason is not null then s.owner_paused_at
          end`;
