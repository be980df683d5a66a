-- CreateEnum
CREATE TYPE "WebhookDisabledReason" AS ENUM ('vendor', 'gone', 'failing');

-- CreateEnum
CREATE TYPE "WebhookDeliveryStatus" AS ENUM ('pending', 'succeeded', 'failed');

-- CreateTable
CREATE TABLE "webhooks" (
    "id" UUID NOT NULL,
    "developer_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "types" TEXT[] NOT NULL,
    "application_id" UUID,
    "description" TEXT NOT NULL DEFAULT '',
    "secrets_encrypted" BYTEA NOT NULL,
    "previous_secret_until" TIMESTAMPTZ(3),
    "last_sequence" BIGINT NOT NULL,
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" "WebhookDisabledReason",
    "failing_since" TIMESTAMPTZ(3),
    "last_success_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhooks_disabled_with_reason" CHECK (("disabled_at" IS NULL) = ("disabled_reason" IS NULL))
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "event_type" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "status" "WebhookDeliveryStatus" NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "claimed_until" TIMESTAMPTZ(3),
    "last_attempt_at" TIMESTAMPTZ(3),
    "latency_milliseconds" INTEGER,
    "status_code" INTEGER,
    "answer" TEXT,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhook_deliveries_pending_is_attempted" CHECK (("status" = 'pending') = ("next_attempt_at" IS NOT NULL))
);

-- CreateIndex
CREATE INDEX "webhooks_developer_id_id_idx" ON "webhooks"("developer_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhook_id_id_idx" ON "webhook_deliveries"("webhook_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhook_id_status_id_idx" ON "webhook_deliveries"("webhook_id", "status", "id");

CREATE INDEX "webhook_deliveries_pending_idx" ON "webhook_deliveries"("webhook_id", "next_attempt_at", "id") WHERE "status" = 'pending';

-- The first delivery of a webhook that is to be attempted.
CREATE INDEX "webhook_deliveries_in_order_idx" ON "webhook_deliveries"("webhook_id", "sequence", "id") WHERE "status" = 'pending';

-- Whether an attempt is in progress.
CREATE INDEX "webhook_deliveries_claimed_idx" ON "webhook_deliveries"("webhook_id") WHERE "claimed_until" IS NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_webhook_id_event_id_key" ON "webhook_deliveries"("webhook_id", "event_id");

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateIndex
CREATE INDEX "events_developer_id_created_at_idx" ON "events"("developer_id", "created_at");
