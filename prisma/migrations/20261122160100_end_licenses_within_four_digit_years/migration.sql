-- No license ends later than 9999-12-31T23:59:59Z: client software reads ISO 8601, whose years have four digits. What a
-- program of an earlier version or a backup of one writes beyond it ends then, too.
CREATE FUNCTION "end_license_within_four_digit_years"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW."expires_at" := '9999-12-31T23:59:59Z';
    RETURN NEW;
END $$;

CREATE TRIGGER "licenses_end_within_four_digit_years" BEFORE INSERT OR UPDATE OF "expires_at" ON "licenses"
    FOR EACH ROW WHEN (NEW."expires_at" > '9999-12-31T23:59:59Z')
    EXECUTE FUNCTION "end_license_within_four_digit_years"();

UPDATE "licenses" SET "expires_at" = '9999-12-31T23:59:59Z' WHERE "expires_at" > '9999-12-31T23:59:59Z';
