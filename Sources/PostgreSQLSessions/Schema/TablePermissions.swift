/// The permissions on tables that the store needs. A missing one fails only the operations that need it, while reads,
/// and with them the rest of a ping, succeed.
enum TablePermissions {
  /// Also of the owner, who may have lost some. `UPDATE` is needed to lock rows that are then deleted.
  private static let needed: [(tables: [String], permissions: [String])] = [
    (
      [
        "accounts", "submitted_names", "refresh_tokens", "sessions", "single_use_marks", "changes", "messages", "bans",
        "access_requests", "invitations", "machine_tokens", "prepared_transfers",
      ], ["SELECT", "INSERT", "UPDATE", "DELETE"]
    ),
    (["group_members", "invitation_uses"], ["SELECT", "INSERT", "DELETE"]),
    (["store", "change_lanes"], ["SELECT", "UPDATE"]),
  ]

  /// The `GRANT` statements for what the user of a connection lacks; nil if that is nothing.
  static func missingGrants(_ connection: Connection) throws -> String? {
    var (tables, permissions): ([String], [String]) = ([], [])
    for group in needed {
      for table in group.tables {
        for permission in group.permissions {
          tables.append(table)
          permissions.append(permission)
        }
      }
    }
    let row = try connection.run(
      """
      SELECT string_agg('GRANT ' || lacking.permissions || ' ON cordon.' || lacking.name || ' TO '
        || quote_ident(current_user), '; ' ORDER BY lacking.name)
      FROM (
        SELECT needed.name, string_agg(needed.permission, ', ') AS permissions
        FROM unnest($1, $2) AS needed (name, permission)
        WHERE NOT has_table_privilege('cordon.' || needed.name, needed.permission) GROUP BY needed.name) AS lacking
      """, [.texts(tables), .texts(permissions)]
    ).first
    return try row?.optionalText(0)
  }
}
