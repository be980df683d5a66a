-- Writers of the log wait from here to the end of this transaction, so that each entry is counted once: below, or by
-- the trigger.
LOCK TABLE "security_log" IN SHARE ROW EXCLUSIVE MODE;

-- In order of their key, so that two batches never wait for each other's counts.
CREATE FUNCTION "count_validations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "validation_counts" AS "counted" ("developer_id", "application_id", "minute", "code", "count")
    SELECT "developer_id", "application_id", "minute_of_id"("id"), coalesce("code", 'UNKNOWN'), count(*)
    FROM "added"
    WHERE "event" = 'license_validated' AND "application_id" IS NOT NULL
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
    ON CONFLICT ("developer_id", "application_id", "minute", "code")
    DO UPDATE SET "count" = "counted"."count" + excluded."count";
    RETURN NULL;
END $$;

-- In the statement that writes the entries: both are there, or neither.
CREATE TRIGGER "security_log_counts_validations" AFTER INSERT ON "security_log"
    REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_validations"();

INSERT INTO "validation_counts"
SELECT "developer_id", "application_id", "minute_of_id"("id"), coalesce("code", 'UNKNOWN'), count(*)
FROM "security_log"
WHERE "event" = 'license_validated' AND "application_id" IS NOT NULL
    AND "id" >= (rpad(lpad(to_hex((
        SELECT coalesce(max("minute") + 1, floor(extract(epoch FROM now() - interval '25 hours') / 60)::bigint) * 60000::bigint
        FROM "validation_counts"
    )), 12, '0'), 32, '0'))::uuid
GROUP BY 1, 2, 3, 4;
