-- A UUIDv7 of this time, to the microsecond. Whoever binds a device has locked the license and takes the time of the
-- database: the ids of a license's devices rise in the order in which they were bound.
CREATE FUNCTION "device_id_at"("at" TIMESTAMPTZ) RETURNS UUID LANGUAGE SQL VOLATILE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM "at") * 1000)::bigint), 12, '0') || '7'
        || lpad(to_hex((extract(microseconds FROM "at")::bigint % 1000) * 4), 3, '0')
        || '8' || substr(md5(random()::text), 1, 15))::uuid
$$;

-- During a rolling upgrade, instances of the version before bind and unbind licenses without the table of devices. They are
-- recognized by this: whatever else changes devices changes their number, or the number of releases.
CREATE FUNCTION "keep_devices"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."hwid" IS NULL AND NEW."device_hash" IS NULL THEN
        UPDATE "devices" SET "released_at" = clock_timestamp(), "released_by" = 'vendor', "may_return" = true
        WHERE "license_id" = NEW."id" AND "released_at" IS NULL;
        NEW."device_count" := 0;
        NEW."device_releases" := NEW."device_releases" + 1;
    ELSIF OLD."device_hash" IS NOT NULL AND NEW."hwid" IS NOT NULL THEN
        BEGIN
            UPDATE "devices" SET "hwid" = NEW."hwid", "device_hash" = NULL
            WHERE "license_id" = NEW."id" AND "device_hash" = OLD."device_hash" AND "released_at" IS NULL;
            IF NOT FOUND THEN
                -- The next migration, which copies the devices, has not come to this one.
                INSERT INTO "devices" ("id", "license_id", "hwid", "first_seen_at", "last_seen_at", "last_ip")
                VALUES ("device_id_at"(clock_timestamp()), NEW."id", NEW."hwid", clock_timestamp(),
                    date_trunc('minute', clock_timestamp()), NEW."last_ip")
                ON CONFLICT DO NOTHING;
                NEW."device_count" := 1;
            END IF;
        EXCEPTION WHEN unique_violation THEN
            -- It was bound by its HWID before, and the next migration has copied that.
            DELETE FROM "devices"
            WHERE "license_id" = NEW."id" AND "device_hash" = OLD."device_hash" AND "released_at" IS NULL;
        END;
        NEW."device_releases" := NEW."device_releases" + 1;
    ELSE
        UPDATE "devices" SET "released_at" = clock_timestamp(), "released_by" = 'vendor', "may_return" = true
        WHERE "license_id" = NEW."id" AND "released_at" IS NULL;
        INSERT INTO "devices" ("id", "license_id", "hwid", "device_hash", "first_seen_at", "last_seen_at", "last_ip")
        VALUES ("device_id_at"(clock_timestamp()), NEW."id", NEW."hwid", NEW."device_hash", clock_timestamp(),
            date_trunc('minute', clock_timestamp()), NEW."last_ip")
        -- The next migration is copying the same device.
        ON CONFLICT DO NOTHING;
        NEW."device_count" := 1;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER "licenses_keep_devices" BEFORE UPDATE OF "hwid", "device_hash" ON "licenses" FOR EACH ROW
    WHEN ((NEW."hwid" IS DISTINCT FROM OLD."hwid" OR NEW."device_hash" IS DISTINCT FROM OLD."device_hash")
        AND NEW."device_count" IS NOT DISTINCT FROM OLD."device_count"
        AND NEW."device_releases" = OLD."device_releases")
    EXECUTE FUNCTION "keep_devices"();
