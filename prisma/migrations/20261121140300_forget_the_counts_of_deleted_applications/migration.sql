-- Whoever deletes an application has waited for those who were writing its log, and they hold no more counts of it.
CREATE FUNCTION "forget_counts"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "validation_counts" WHERE "developer_id" = OLD."developer_id" AND "application_id" = OLD."id";
    DELETE FROM "license_count_changes" WHERE "application_id" = OLD."id";
    DELETE FROM "license_counts" WHERE "application_id" = OLD."id";
    RETURN NULL;
END $$;

-- Triggers fire in order of their names, and those of the cascades begin with "RI": the licenses are gone before.
CREATE TRIGGER "applications_forget_counts" AFTER DELETE ON "applications"
    FOR EACH ROW EXECUTE FUNCTION "forget_counts"();
