CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "developer_id" UUID NOT NULL,
    "application_id" UUID,
    "type" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" UUID,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sequence" BIGINT,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "events_sequence_from_1" CHECK ("sequence" >= 1)
);

-- CreateIndex
CREATE UNIQUE INDEX "events_developer_id_sequence_key" ON "events"("developer_id", "sequence");

CREATE INDEX "events_unnumbered_idx" ON "events"("developer_id", "position") WHERE "sequence" IS NULL;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "event_streams" (
    "developer_id" UUID NOT NULL,
    "last_sequence" BIGINT NOT NULL DEFAULT 0,
    "purged_sequence" BIGINT NOT NULL DEFAULT 0,
    "purged_id" UUID,

    CONSTRAINT "event_streams_pkey" PRIMARY KEY ("developer_id"),
    CONSTRAINT "event_streams_purged_are_numbered" CHECK ("purged_sequence" <= "last_sequence")
);

-- AddForeignKey
ALTER TABLE "event_streams" ADD CONSTRAINT "event_streams_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "event_scans" (
    "kind" TEXT NOT NULL,
    "done_until" TIMESTAMPTZ(3) NOT NULL,
    "done_id" UUID NOT NULL,

    CONSTRAINT "event_scans_pkey" PRIMARY KEY ("kind")
);
