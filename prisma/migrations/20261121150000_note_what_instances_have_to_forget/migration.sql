-- What a write changed of that which instances have cached: written in the write's own transaction, so that it cannot
-- be lost, read by every instance twice a second, and kept for an hour. Inserted alone, so that writers never wait for
-- each other; the transaction's id tells a reader what was committed since its last look.
CREATE TABLE "cache_changes" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "cache" TEXT NOT NULL,
    "keys" JSONB NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "cache_changes_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "cache_changes_transaction_id_idx" ON "cache_changes"("transaction_id");
