-- How often each verdict was given, by the minute: the figures of a day are some thousand rows, however many entries
-- the day has. No foreign keys: counting is to wait for nothing but its own rows.
CREATE TABLE "validation_counts" (
    "developer_id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    -- Minutes since the Unix epoch, by the time in the entries' ids.
    "minute" INTEGER NOT NULL,
    "code" TEXT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "validation_counts_pkey" PRIMARY KEY ("developer_id", "application_id", "minute", "code"),
    CONSTRAINT "validation_counts_count_positive" CHECK ("count" > 0)
) WITH (fillfactor = 70); -- Room for the next count of a row on its own page.

-- The first 48 bits of a UUIDv7 are milliseconds (RFC 9562 §5.7).
CREATE FUNCTION "minute_of_id"("id" UUID) RETURNS INTEGER LANGUAGE SQL IMMUTABLE PARALLEL SAFE RETURN
    (('x' || translate(left("id"::text, 13), '-', ''))::bit(48)::bigint / 60000)::integer;

-- What lies some minutes back does not change any more, and is counted while entries keep being written. The next
-- migration counts the rest, and holds their writers for only so long.
INSERT INTO "validation_counts"
SELECT "developer_id", "application_id", "minute_of_id"("id"), coalesce("code", 'UNKNOWN'), count(*)
FROM "security_log"
WHERE "event" = 'license_validated' AND "application_id" IS NOT NULL
    AND "id" >= (rpad(lpad(to_hex((extract(epoch FROM now() - interval '25 hours') * 1000)::bigint), 12, '0'), 32, '0'))::uuid
    AND "id" < (rpad(lpad(to_hex((floor(extract(epoch FROM now() - interval '5 minutes') / 60) * 60000)::bigint), 12, '0'), 32, '0'))::uuid
GROUP BY 1, 2, 3, 4;
