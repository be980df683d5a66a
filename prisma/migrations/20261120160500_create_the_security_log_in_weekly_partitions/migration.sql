-- The id is a UUIDv7, whose first 48 bits are a time (RFC 9562 §5.7): a range of ids is a range of time,
-- and purging old entries is dropping partitions. src/db/log-partitions.ts makes and drops the weekly ones.
CREATE TABLE "security_log" (
    "id" UUID NOT NULL,
    "developer_id" UUID NOT NULL,
    "application_id" UUID,
    "event" TEXT NOT NULL,
    "code" TEXT,
    "license_id" UUID,
    "user_id" UUID,
    "ip" TEXT,
    "country" TEXT,
    "hwid" TEXT,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "security_log_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "security_log_event_not_empty" CHECK ("event" <> ''),
    CONSTRAINT "security_log_country_is_alpha2" CHECK ("country" ~ '^[A-Z0-9]{2}$'),
    CONSTRAINT "security_log_metadata_is_object" CHECK (jsonb_typeof("metadata") = 'object')
) PARTITION BY RANGE ("id");

-- CreateIndex
CREATE INDEX "security_log_application_id_id_idx" ON "security_log"("application_id", "id");

-- CreateIndex
CREATE INDEX "security_log_developer_id_id_idx" ON "security_log"("developer_id", "id");

-- AddForeignKey
ALTER TABLE "security_log" ADD CONSTRAINT "security_log_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "security_log" ADD CONSTRAINT "security_log_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Takes what no weekly partition does, so that a missing partition never loses an entry.
CREATE TABLE "security_log_default" PARTITION OF "security_log" DEFAULT;
