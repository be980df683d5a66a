ALTER TABLE "licenses"
    ADD COLUMN "grace_seconds" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "suspended_at" TIMESTAMPTZ(3),
    ADD COLUMN "suspension_reason" TEXT,
    ADD COLUMN "clock_stopped_at" TIMESTAMPTZ(3),
    -- Without a scan of the table, which would block it; all rows have the defaults.
    ADD CONSTRAINT "licenses_grace_not_negative" CHECK ("grace_seconds" >= 0) NOT VALID,
    ADD CONSTRAINT "licenses_clock_stops_by_suspension" CHECK ("clock_stopped_at" IS NULL OR "suspended_at" IS NOT NULL) NOT VALID;
